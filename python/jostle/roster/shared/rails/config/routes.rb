Rails.application.routes.draw do
  root "contract#index"
  get "orders", to: "orders#index", format: false

  scope format: false, constraints: { n: %r{[^/]+}, a: %r{[^/]+}, b: %r{[^/]+} } do
    get "hello", to: "contract#hello"
    get "sleep", to: "contract#wait"
    get "count/:n", to: "contract#count"
    get "fast/:n", to: "contract#fast"
    get "slow/:n", to: "contract#slow"
    get "fibs/:n", to: "contract#fibs"
    get "pair/:a/:b", to: "contract#pair"
    get "alloc/buffers", to: "contract#buffers"
    get "alloc/strings", to: "contract#strings"
    get "spawn/:n", to: "contract#spawn"
    match "(*path)", to: "contract#unknown", via: :all
  end
end
