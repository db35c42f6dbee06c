bind "tcp://#{ENV.fetch("HOST")}:#{ENV.fetch("PORT")}"
threads 3, 3
