<?php

// Run from its first line for every request, by whichever worker is free; nothing is kept but the connection to the
// database.

declare(strict_types=1);

const HELLO_LENGTH = 1023;

final class Refusal extends Exception
{
}

function whole(string $text, int $most): int
{
    if (preg_match('/\A\d{1,19}\z/', $text) && (int) $text <= $most) {
        return (int) $text;
    }
    throw new Refusal("a whole number from 0 to $most is needed here", 400);
}

function field(string $name, string $otherwise): string
{
    $value = $_GET[$name] ?? $otherwise;
    return is_string($value) ? $value : '';
}

function decimal(string $name, string $otherwise, float $most): float
{
    $text = field($name, $otherwise);
    if (preg_match('/\A\d*\.?\d+\z/', $text) && (float) $text <= $most) {
        return (float) $text;
    }
    throw new Refusal("$name must be a number from 0 to $most", 400);
}

function one_of(string $name, string ...$choices): string
{
    $choice = field($name, $choices[0]);
    if (in_array($choice, $choices, true)) {
        return $choice;
    }
    throw new Refusal("$name must be one of: " . implode(', ', $choices), 400);
}

function hello(): string
{
    return str_repeat('x', HELLO_LENGTH) . "\n";
}

function wait(): string
{
    $ms = decimal('ms', '100', 60_000);
    $spread = decimal('jitter', '0', 1) * (2 * mt_rand() / mt_getrandmax() - 1);
    usleep((int) round($ms * 1000 * (1 + $spread)));
    return hello();
}

function count_to(int $n): int
{
    $x = 0;
    while ($x < $n) {
        $x++;
    }
    return $x;
}

function fib(int $n): int
{
    return $n < 2 ? $n : fib($n - 1) + fib($n - 2);
}

// Numbers from the peer, asked for one after the other or at once.
function ask(string $peer, array $numbers, bool $at_once): array
{
    $all = curl_multi_init();
    $questions = [];
    foreach ($numbers as $n) {
        $questions[] = $question = curl_init("$peer/fibs/$n");
        curl_setopt_array($question, [CURLOPT_RETURNTRANSFER => true, CURLOPT_FAILONERROR => true, CURLOPT_PROXY => '']);
        curl_multi_add_handle($all, $question);
        if (!$at_once) {
            finish($all);
        }
    }
    finish($all);
    return array_map(function (CurlHandle $question): int {
        $answer = json_decode(curl_multi_getcontent($question) ?? '', true);
        return $answer['fibResult'] ?? throw new Refusal('the peer did not answer: ' . curl_error($question), 502);
    }, $questions);
}

function finish(CurlMultiHandle $all): void
{
    do {
        curl_multi_exec($all, $running);
    } while ($running && curl_multi_select($all) !== -1);
}

function pair(string $a, string $b): array
{
    $numbers = [whole($a, 60), whole($b, 60)];
    $at_once = one_of('async', '0', '1') === '1';
    if (one_of('where', 'local', 'remote') === 'local') {
        return array_combine(['a', 'b'], array_map('fib', $numbers));
    }
    $peer = field('peer', '');
    if (!preg_match('~\Ahttp://[\w.:-]+(/[\w./-]*)?\z~', $peer)) {
        throw new Refusal('where=remote needs peer=http://…', 400);
    }
    if (getenv('WORKERS') === '1' && $peer === 'http://' . getenv('HOST') . ':' . getenv('PORT')) {
        throw new Refusal('the only worker would wait for itself for ever', 409);
    }
    return array_combine(['a', 'b'], ask($peer, $numbers, $at_once));
}

function allocate_buffers(): string
{
    $buffers = [];
    for ($i = 0; $i < 50; $i++) {
        $buffers[] = str_repeat('x', 1024);
    }
    return count($buffers) === 50 ? hello() : '';
}

// Strings are bytes here, and copies share them until one is written to.
function allocate_strings(): string
{
    $bytes = hello();
    $strings = [];
    for ($i = 0; $i < 50; $i++) {
        $strings[] = substr($bytes, 0, HELLO_LENGTH) . "\n";
    }
    return $strings[49];
}

// Every fiber has run until it waits; resumed, it ends.
function spawn(int $n): string
{
    one_of('kind', 'fiber');
    $held = [];
    try {
        while (count($held) < $n) {
            $fiber = new Fiber(fn () => Fiber::suspend());
            $fiber->start();
            $held[] = $fiber;
        }
    } catch (Exception) { // no memory for its stack
        throw new Refusal('only ' . count($held) . ' fibers could be started', 503);
    }
    foreach ($held as $fiber) {
        $fiber->resume();
    }
    return (string) $n;
}

// A connection for each worker, which the next request finds open.
function database(): PDO
{
    $url = parse_url(getenv('DATABASE_URL'));
    if (!isset($url['host'])) {
        throw new Refusal('started without a database', 503);
    }
    $source = sprintf('pgsql:host=%s;port=%d;dbname=%s', $url['host'], $url['port'] ?? 5432, substr($url['path'], 1));
    [$user, $password] = array_map('urldecode', [$url['user'] ?? '', $url['pass'] ?? '']);
    // A prepared query would be forgotten with its request: two more round trips for each.
    $options = [PDO::ATTR_PERSISTENT => true, PDO::PGSQL_ATTR_DISABLE_PREPARES => true];
    return new PDO($source, $user, $password, $options);
}

// Four questions, one after the other; while the database thinks, the worker waits.
function orders(): string
{
    $database = database();
    $least = $database->query('SELECT min(id) FROM customers')->fetchColumn();
    $most = $database->query('SELECT max(id) FROM customers')->fetchColumn();
    $id = random_int($least, $most);
    $find = $database->prepare('SELECT id, name FROM customers WHERE id = ?');
    $find->execute([$id]);
    $customer = $find->fetch() ?: throw new Refusal("there is no customer $id", 404);
    $find = $database->prepare('SELECT * FROM orders WHERE customer_id = ? ORDER BY ordered_on');
    $find->execute([$customer['id']]);
    $items = '';
    foreach ($find as $order) {
        $items .= '<li>' . $order['ordered_on'] . ': ' . htmlspecialchars($order['item']) . "</li>\n";
    }
    $name = htmlspecialchars($customer['name']);
    return "<!DOCTYPE html>\n<title>Orders</title>\n<h1>$name</h1>\n<ol>\n$items</ol>\n";
}

function about(): array
{
    return ['name' => 'php-fpm', 'version' => PHP_VERSION, 'runtime' => 'PHP', 'workers' => (int) getenv('WORKERS')];
}

function route(string $path): string|array
{
    $arguments = explode('/', substr($path, 1));
    $name = array_shift($arguments);
    [$first, $second] = $arguments + ['', ''];
    return match ($name . '/' . count($arguments)) {
        '/0' => about(),
        'hello/0' => hello(),
        'sleep/0' => wait(),
        'count/1' => 'Hello, World ' . count_to(whole($first, 10 ** 10)) . "\n",
        'fast/1' => (string) (whole($first, 10 ** 6) ** 2),
        'slow/1' => (string) fib(whole($first, 60)),
        'fibs/1' => ['fibResult' => fib(whole($first, 60))],
        'pair/2' => pair($first, $second),
        'alloc/1' => match ($first) {
            'buffers' => allocate_buffers(),
            'strings' => allocate_strings(),
            default => throw new Refusal('no such route', 404),
        },
        'spawn/1' => spawn(whole($first, 10 ** 6)),
        'orders/0' => orders(),
        default => throw new Refusal('no such route', 404),
    };
}

function send(int $status, string $type, string $body): void
{
    http_response_code($status);
    header("Content-Type: $type");
    header('Content-Length: ' . strlen($body));
    echo $body;
}

try {
    if (!in_array($_SERVER['REQUEST_METHOD'], ['GET', 'HEAD'], true)) {
        header('Allow: GET, HEAD');
        throw new Refusal('only GET and HEAD', 405);
    }
    $path = $_SERVER['DOCUMENT_URI'];
    $answer = route($path);
    if (is_array($answer)) {
        send(200, 'application/json', json_encode($answer));
    } else {
        send(200, $path === '/orders' ? 'text/html; charset=utf-8' : 'text/plain', $answer);
    }
} catch (Refusal $refusal) {
    send($refusal->getCode(), 'text/plain', $refusal->getMessage());
}
