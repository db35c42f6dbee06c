workers Integer(ENV["WORKERS"])
threads Integer(ENV["THREADS"]), Integer(ENV["THREADS"])
bind "tcp://#{ENV["HOST"]}:#{ENV["PORT"]}?backlog=4096"
environment "production"
preload_app!
worker_shutdown_timeout 0.5 # a request that computes would keep it from stopping

# A client may hold its connection and say nothing for a day.
persistent_timeout 86_400
first_data_timeout 86_400
