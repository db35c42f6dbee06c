# frozen_string_literal: true

workers Integer(ENV.fetch("WORKERS"))
threads Integer(ENV.fetch("THREADS")), Integer(ENV.fetch("THREADS"))
bind "tcp://#{ENV.fetch("HOST")}:#{ENV.fetch("PORT")}?backlog=4096"
environment "production"
preload_app!
silence_single_worker_warning
worker_shutdown_timeout 0.5 # a request that computes would keep it from stopping

# A client may hold its connection and say nothing for a day.
persistent_timeout 86_400
first_data_timeout 86_400
