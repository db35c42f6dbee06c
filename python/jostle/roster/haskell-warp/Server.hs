{-# LANGUAGE BangPatterns, OverloadedStrings #-}

-- | A green thread per connection, switched every 20 ms, but only where the running code allocates.
module Main (main) where

import Control.Concurrent
import Control.Concurrent.Async (concurrently)
import Control.Exception
import Control.Monad
import Data.Aeson (Value, eitherDecode, encode, object, withObject, (.:), (.=))
import Data.Aeson.Types (parseEither)
import Data.Bifunctor (first)
import qualified Data.ByteString as B
import qualified Data.ByteString.Internal as B (create)
import qualified Data.ByteString.Lazy as L
import Data.IORef
import Data.Pool (Pool, createPool, withResource)
import Data.Maybe (fromMaybe)
import Data.Text (Text)
import qualified Data.Text as T
import Data.Text.Encoding (decodeUtf8, encodeUtf8)
import qualified Data.Text.Read as T (decimal, double)
import Data.Version (showVersion)
import Database.PostgreSQL.Simple (Connection, Only (..))
import qualified Database.PostgreSQL.Simple as Database
import Foreign.Marshal.Utils (fillBytes)
import qualified Network.HTTP.Client as Client
import Network.HTTP.Types
import Network.Socket
import Network.Wai
import Network.Wai.Handler.Warp (defaultSettings, runSettingsSocket, setTimeout)
import System.Environment (getEnv)
import System.Info (fullCompilerVersion)
import System.Random (randomRIO)

-- | What the routes share: the client for the peer, a kilobyte that the compiler knows nothing about, and
-- connections to the database, if there is one.
data Server = Server
  { client :: Client.Manager, kilobyte :: IORef B.ByteString, database :: Maybe (Pool Connection) }

data Refused = Refused Status Text deriving Show

instance Exception Refused

main :: IO ()
main = do
  host <- getEnv "HOST"
  port <- getEnv "PORT"
  server <- Server <$> Client.newManager peerSettings <*> newIORef hello <*> openPool
  address <- head <$> getAddrInfo (Just defaultHints { addrSocketType = Stream }) (Just host) (Just port)
  bracket (openSocket address) close $ \listening -> do
    setSocketOption listening ReuseAddr 1
    bind listening (addrAddress address)
    listen listening 4096
    runSettingsSocket (setTimeout 86400 defaultSettings) listening (application server)
  where
    peerSettings = Client.defaultManagerSettings
      { Client.managerConnCount = 1024, Client.managerResponseTimeout = Client.responseTimeoutNone }

-- | A connection is opened when one is needed and none is free, and kept for a day.
openPool :: IO (Maybe (Pool Connection))
openPool = do
  url <- getEnv "DATABASE_URL"
  size <- getEnv "POOL"
  if null url then pure Nothing else Just <$>
    createPool (Database.connectPostgreSQL (encodeUtf8 (T.pack url))) Database.close 1 86400 (read size)

application :: Server -> Application
application server request respond = do
  answer <- try $ do
    unless (requestMethod request `elem` [methodGet, methodHead]) $ refuse methodNotAllowed405 "only GET and HEAD"
    route server (pathInfo request) (queryToQueryText (queryString request))
  respond $ case answer of
    Right response -> response
    Left (Refused status why) -> plain status (L.fromStrict (encodeUtf8 why))

route :: Server -> [Text] -> QueryText -> IO Response
route server path query = case path of
  [] -> about
  ["hello"] -> pure kilobyteOfX
  ["sleep"] -> pause query
  ["count", n] -> whole n 10000000000 >>= evaluate . count >>= text . (<> "\n") . ("Hello, World " <>) . shown
  ["fast", n] -> (\x -> shown (x * x)) <$> whole n 1000000 >>= text
  ["slow", n] -> whole n 60 >>= evaluate . fib >>= text . shown
  ["fibs", n] -> whole n 60 >>= evaluate . fib >>= \x -> json (object ["fibResult" .= x])
  ["pair", a, b] -> join (pair server <$> whole a 60 <*> whole b 60 <*> pure query)
  ["alloc", "buffers"] -> allocate (B.create 1024 (\start -> fillBytes start 120 1024))
  ["alloc", "strings"] -> allocate (decodeUtf8 <$> readIORef (kilobyte server))
  ["spawn", n] -> spawn n query
  ["orders"] -> orders server
  _ -> refuse notFound404 "no such route"

about :: IO Response
about = do
  cores <- getNumCapabilities
  json $ object
    [ "name" .= ("haskell-warp" :: Text), "version" .= showVersion fullCompilerVersion
    , "runtime" .= ("GHC" :: Text), "workers" .= cores ]

-- | Not inlined: else the result is boxed inside the loop, and every turn could be interrupted there.
count :: Int -> Int
count n = go 0
  where
    go !x
      | x < n = go (x + 1)
      | otherwise = x
{-# NOINLINE count #-}

fib :: Int -> Int
fib n
  | n < 2 = n
  | otherwise = fib (n - 1) + fib (n - 2)

pause :: QueryText -> IO Response
pause query = do
  ms <- number "ms" 100 60000 query
  jitter <- number "jitter" 0 1 query
  part <- randomRIO (-jitter, jitter)
  threadDelay (round (1000 * ms * (1 + part)))
  pure kilobyteOfX

pair :: Server -> Int -> Int -> QueryText -> IO Response
pair server a b query = do
  place <- oneOf "where" ["local", "remote"] query
  concurrent <- oneOf "async" ["0", "1"] query
  find <- if place == "local" then pure (evaluate . fib) else askPeer server <$> peerOf query
  (x, y) <- if concurrent == "1" then concurrently (find a) (find b) else (,) <$> find a <*> find b
  json (object ["a" .= x, "b" .= y])

peerOf :: QueryText -> IO Client.Request
peerOf query = case Client.parseRequest . T.unpack =<< join (lookup "peer" query) of
  Just peer | not (Client.secure peer) -> pure peer
  _ -> refuse badRequest400 "where=remote needs peer=http://..."

askPeer :: Server -> Client.Request -> Int -> IO Int
askPeer server peer n = do
  answer <- try (Client.httpLbs peer { Client.path = encodeUtf8 ("/fibs/" <> shown n) } (client server))
  case answer of
    Left (Client.HttpExceptionRequest _ failure) -> badGateway (show failure)
    Left (Client.InvalidUrlException _ failure) -> badGateway failure
    Right response
      | Client.responseStatus response /= ok200 -> badGateway (show (Client.responseStatus response))
      | otherwise -> either badGateway pure (fibResult (Client.responseBody response))
  where
    fibResult = parseEither (withObject "answer" (.: "fibResult")) <=< eitherDecode
    badGateway why = refuse badGateway502 (T.unwords (T.words ("no number from the peer: " <> T.pack why)))

-- | Each is made by an action of its own: a constant would be made once and shared.
allocate :: IO a -> IO Response
allocate new = do
  fresh <- replicateM 50 (new >>= evaluate)
  foldr seq (pure kilobyteOfX) fresh

spawn :: Text -> QueryText -> IO Response
spawn n query = do
  kind <- oneOf "kind" ("green" : ["os" | rtsSupportsBoundThreads]) query
  threads <- whole n (if kind == "os" then 2000 else 1000000)
  hold (if kind == "os" then forkOS else forkIO) threads
  text (shown threads)

-- | As in the article: a locked variable to start each thread, one to see it end.
hold :: (IO () -> IO ThreadId) -> Int -> IO ()
hold fork n = do
  starts <- replicateM n newEmptyMVar
  ends <- replicateM n newEmptyMVar
  forM_ (zip starts ends) $ \(start, end) -> fork (takeMVar start >>= putMVar end)
  forM_ starts (`putMVar` ())
  forM_ ends takeMVar

-- | Four questions, one after the other, on one connection. The driver waits as a green thread does.
orders :: Server -> IO Response
orders server = do
  connections <- maybe (refuse serviceUnavailable503 "started without a database") pure (database server)
  withResource connections $ \connection -> do
    [Only least] <- Database.query_ connection "SELECT min(id) FROM customers"
    [Only most] <- Database.query_ connection "SELECT max(id) FROM customers"
    chosen <- randomRIO (least, most :: Int)
    found <- Database.query connection "SELECT id, name FROM customers WHERE id = ?" (Only chosen)
    (customer, name) <- case found of
      [one] -> pure one
      _ -> refuse notFound404 ("there is no customer " <> shown chosen)
    list <- Database.query connection
      "SELECT ordered_on, item FROM orders WHERE customer_id = ? ORDER BY ordered_on" (Only (customer :: Int))
    pure (page name list)

page :: Text -> [(Text, Text)] -> Response
page name list = body ok200 "text/html; charset=utf-8" (L.fromStrict (encodeUtf8 (T.concat document)))
  where
    document = ["<!DOCTYPE html>\n<title>Orders</title>\n<h1>", escape name, "</h1>\n<ol>\n"] ++ items ++ ["</ol>\n"]
    items = ["<li>" <> on <> ": " <> escape item <> "</li>\n" | (on, item) <- list]

escape :: Text -> Text
escape = T.concatMap entity
  where
    entity '&' = "&amp;"
    entity '<' = "&lt;"
    entity '>' = "&gt;"
    entity '"' = "&quot;"
    entity c = T.singleton c

whole :: Text -> Int -> IO Int
whole given most = case T.decimal given of
  Right (n, "") | n <= toInteger most -> pure (fromInteger n)
  _ -> refuse badRequest400 ("a whole number from 0 to " <> shown most <> " is needed here")

number :: Text -> Double -> Double -> QueryText -> IO Double
number name otherwise' most query = case first (const ()) . T.double <$> given of
  Nothing -> pure otherwise'
  Just (Right (x, "")) | x >= 0 && x <= most -> pure x
  _ -> refuse badRequest400 (name <> " must be a number from 0 to " <> shown (round most :: Int))
  where given = fromMaybe "" <$> lookup name query

oneOf :: Text -> [Text] -> QueryText -> IO Text
oneOf name choices query = case lookup name query of
  Nothing -> pure (head choices)
  Just (Just choice) | choice `elem` choices -> pure choice
  _ -> refuse badRequest400 (name <> " must be one of: " <> T.intercalate ", " choices)

refuse :: Status -> Text -> IO a
refuse status why = throwIO (Refused status why)

hello :: B.ByteString
hello = B.replicate 1023 120 <> "\n"

kilobyteOfX :: Response
kilobyteOfX = plain ok200 (L.fromStrict hello)

shown :: Show a => a -> Text
shown = T.pack . show

text :: Text -> IO Response
text = pure . plain ok200 . L.fromStrict . encodeUtf8

plain :: Status -> L.ByteString -> Response
plain status = body status "text/plain"

json :: Value -> IO Response
json = pure . body ok200 "application/json" . encode

body :: Status -> B.ByteString -> L.ByteString -> Response
body status kind bytes = responseLBS status headers bytes
  where
    headers = [(hContentType, kind), (hContentLength, encodeUtf8 (shown (L.length bytes)))]
      ++ [("Allow", "GET, HEAD") | status == methodNotAllowed405]
