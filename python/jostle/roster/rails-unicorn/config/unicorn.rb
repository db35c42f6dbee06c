worker_processes Integer(ENV["WORKERS"])
listen "#{ENV["HOST"]}:#{ENV["PORT"]}", backlog: 4096
preload_app true
timeout 86_400 # longer than any route computes: a worker is not to be killed in the middle of a measurement

logger Logger.new($stderr, level: Logger::ERROR)
