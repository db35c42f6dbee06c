{-# LANGUAGE BangPatterns, DataKinds, DeriveGeneric, KindSignatures, OverloadedStrings, ScopedTypeVariables, TypeOperators #-}

-- | The contract as a type: Servant routes by it, and refuses what does not parse as the type says.
module Main (main) where

import Control.Concurrent
import Control.Concurrent.Async (concurrently)
import Control.Exception (bracket, evaluate, try)
import Control.Monad
import Control.Monad.IO.Class (liftIO)
import Data.Aeson (FromJSON, ToJSON, eitherDecode)
import qualified Data.ByteString as B
import qualified Data.ByteString.Internal as B (create)
import qualified Data.ByteString.Lazy.Char8 as L (pack)
import Data.IORef
import Data.Maybe (fromMaybe)
import Data.Text (Text)
import qualified Data.Text as T
import Data.Text.Encoding (decodeUtf8, encodeUtf8)
import qualified Data.Text.Read as T (decimal)
import Data.Version (showVersion)
import Foreign.Marshal.Utils (fillBytes)
import GHC.Generics (Generic)
import GHC.TypeLits (KnownNat, Nat, natVal)
import qualified Network.HTTP.Client as Client
import Network.HTTP.Types (ok200)
import Network.Socket hiding (close)
import qualified Network.Socket as Socket
import Network.Wai (Request)
import Network.Wai.Handler.Warp (defaultSettings, runSettingsSocket, setTimeout)
import Servant
import System.Environment (getEnv)
import System.Info (fullCompilerVersion)
import System.Random (randomRIO)

type Contract =
       Get '[JSON] About
  :<|> "hello" :> Get '[PlainText] Text
  :<|> "sleep" :> QueryParam "ms" (Number 60000) :> QueryParam "jitter" (Number 1) :> Get '[PlainText] Text
  :<|> "count" :> Capture "n" (Whole 10000000000) :> Get '[PlainText] Text
  :<|> "fast" :> Capture "n" (Whole 1000000) :> Get '[PlainText] Text
  :<|> "slow" :> Capture "n" (Whole 60) :> Get '[PlainText] Text
  :<|> "fibs" :> Capture "n" (Whole 60) :> Get '[JSON] FibResult
  :<|> "pair" :> Capture "a" (Whole 60) :> Capture "b" (Whole 60) :> QueryParam "where" Place
         :> QueryParam "peer" Peer :> QueryParam "async" Order :> Get '[JSON] Pair
  :<|> "alloc" :> "buffers" :> Get '[PlainText] Text
  :<|> "alloc" :> "strings" :> Get '[PlainText] Text
  :<|> "spawn" :> Capture "n" (Whole 1000000) :> QueryParam "kind" Kind :> Get '[PlainText] Text

data About = About { name :: Text, version :: Text, runtime :: Text, workers :: Int } deriving Generic
instance ToJSON About

newtype FibResult = FibResult { fibResult :: Int } deriving Generic
instance ToJSON FibResult
instance FromJSON FibResult

data Pair = Pair { a :: Int, b :: Int } deriving Generic
instance ToJSON Pair

-- | A whole number from 0 to @most@.
newtype Whole (most :: Nat) = Whole Int

instance KnownNat most => FromHttpApiData (Whole most) where
  parseUrlPiece given = case T.decimal given of
    Right (n, "") | n <= most -> Right (Whole (fromInteger n))
    _ -> Left ("a whole number from 0 to " <> shown most <> " is needed here")
    where most = natVal (Proxy :: Proxy most)

-- | A number from 0 to @most@.
newtype Number (most :: Nat) = Number Double

instance KnownNat most => FromHttpApiData (Number most) where
  parseUrlPiece given = case parseUrlPiece given of
    Right x | x >= 0 && x <= fromInteger most -> Right (Number x)
    _ -> Left ("a number from 0 to " <> shown most <> " is needed here")
    where most = natVal (Proxy :: Proxy most)

data Place = Local | Remote
data Order = InTurn | AtOnce deriving Eq
data Kind = Green | Os
newtype Peer = Peer Client.Request

instance FromHttpApiData Place where parseUrlPiece = oneOf [("local", Local), ("remote", Remote)]
instance FromHttpApiData Order where parseUrlPiece = oneOf [("0", InTurn), ("1", AtOnce)]
instance FromHttpApiData Kind where parseUrlPiece = oneOf (("green", Green) : [("os", Os) | rtsSupportsBoundThreads])
instance FromHttpApiData Peer where
  parseUrlPiece given = case Client.parseRequest (T.unpack given) of
    Just peer | not (Client.secure peer) && not (B.null (Client.host peer)) -> Right (Peer peer)
    _ -> Left "peer must be the address of a server, http://..."

oneOf :: [(Text, a)] -> Text -> Either Text a
oneOf choices given = maybe (Left ("must be one of: " <> T.intercalate ", " (map fst choices))) Right (lookup given choices)

main :: IO ()
main = do
  host <- getEnv "HOST"
  port <- getEnv "PORT"
  client <- Client.newManager Client.defaultManagerSettings
    { Client.managerConnCount = 1024, Client.managerResponseTimeout = Client.responseTimeoutNone }
  kilobyte <- newIORef (encodeUtf8 hello)
  address <- head <$> getAddrInfo (Just defaultHints { addrSocketType = Stream }) (Just host) (Just port)
  bracket (openSocket address) Socket.close $ \listening -> do
    setSocketOption listening ReuseAddr 1
    bind listening (addrAddress address)
    listen listening 4096
    runSettingsSocket (setTimeout 86400 defaultSettings) listening (application client kilobyte)

application :: Client.Manager -> IORef B.ByteString -> Application
application client kilobyte = serveWithContext (Proxy :: Proxy Contract) (formatters :. EmptyContext) $
       about
  :<|> pure hello
  :<|> pause
  :<|> (\(Whole n) -> (\x -> "Hello, World " <> shown x <> "\n") <$> liftIO (evaluate (count n)))
  :<|> (\(Whole n) -> pure (shown (n * n)))
  :<|> (\(Whole n) -> shown <$> liftIO (evaluate (fib n)))
  :<|> (\(Whole n) -> FibResult <$> liftIO (evaluate (fib n)))
  :<|> pair client
  :<|> allocate (B.create 1024 (\start -> fillBytes start 120 1024))
  :<|> allocate (decodeUtf8 <$> readIORef kilobyte)
  :<|> spawn

-- | Servant's own refusals have no content type, and for an unknown path no text.
formatters :: ErrorFormatters
formatters = defaultErrorFormatters
  { urlParseErrorFormatter = \_ _ why -> refusal err400 why
  , notFoundErrorFormatter = \(_ :: Request) -> refusal err404 "no such route" }

refusal :: ServerError -> String -> ServerError
refusal status why = status { errBody = L.pack why, errHeaders = [("Content-Type", "text/plain")] }

about :: Handler About
about = About "haskell-servant" (T.pack (showVersion fullCompilerVersion)) "GHC" <$> liftIO getNumCapabilities

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

pause :: Maybe (Number 60000) -> Maybe (Number 1) -> Handler Text
pause givenMs givenJitter = do
  let Number ms = fromMaybe (Number 100) givenMs
      Number jitter = fromMaybe (Number 0) givenJitter
  part <- randomRIO (-jitter, jitter)
  liftIO (threadDelay (round (1000 * ms * (1 + part))))
  pure hello

pair :: Client.Manager -> Whole 60 -> Whole 60 -> Maybe Place -> Maybe Peer -> Maybe Order -> Handler Pair
pair client (Whole x) (Whole y) place peer order = do
  find <- case (fromMaybe Local place, peer) of
    (Local, _) -> pure (fmap Right . evaluate . fib)
    (Remote, Just (Peer request)) -> pure (askPeer client request)
    (Remote, Nothing) -> throwError (refusal err400 "where=remote needs peer=http://...")
  found <- liftIO $ if order == Just AtOnce then concurrently (find x) (find y) else (,) <$> find x <*> find y
  either (throwError . refusal err502 . unwords . words) pure (uncurry (liftM2 Pair) found)

askPeer :: Client.Manager -> Client.Request -> Int -> IO (Either String Int)
askPeer client peer n = do
  answer <- try (Client.httpLbs peer { Client.path = encodeUtf8 ("/fibs/" <> shown n) } client)
  pure $ case answer of
    Left (Client.HttpExceptionRequest _ why) -> Left ("the peer did not answer: " <> show why)
    Left (Client.InvalidUrlException _ why) -> Left why
    Right response
      | Client.responseStatus response /= ok200 -> Left ("the peer answered " <> show (Client.responseStatus response))
      | otherwise -> fibResult <$> eitherDecode (Client.responseBody response)

-- | Each is made by an action of its own: a constant would be made once and shared.
allocate :: IO a -> Handler Text
allocate new = do
  fresh <- liftIO (replicateM 50 (new >>= evaluate))
  foldr seq (pure hello) fresh

spawn :: Whole 1000000 -> Maybe Kind -> Handler Text
spawn (Whole n) kind = do
  case kind of
    Just Os | n > 2000 -> throwError (refusal err400 "a whole number from 0 to 2000 is needed here")
            | otherwise -> liftIO (hold forkOS n)
    _ -> liftIO (hold forkIO n)
  pure (shown n)

-- | As in the article: a locked variable to start each thread, one to see it end.
hold :: (IO () -> IO ThreadId) -> Int -> IO ()
hold fork n = do
  starts <- replicateM n newEmptyMVar
  ends <- replicateM n newEmptyMVar
  forM_ (zip starts ends) $ \(start, end) -> fork (takeMVar start >>= putMVar end)
  forM_ starts (`putMVar` ())
  forM_ ends takeMVar

hello :: Text
hello = T.replicate 1023 "x" <> "\n"

shown :: Show a => a -> Text
shown = T.pack . show
