Rails.application.routes.draw do
  root "contract#index"
  get "orders", to: "orders#index", format: false

  scope "shop", format: false do
    get "login", to: "shop#form"
    post "login", to: "shop#login"
    get "search", to: "shop#search"
    post "orders", to: "shop#order"
    get "orders/:id", to: "shop#receipt"
    get "gifts", to: "shop#gifts"
  end

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
