// JSGI on Jetty: every request runs from beginning to end in a thread of its own, with a worker (a private set
// of modules) that no other request uses at the same time. Waiting is therefore simply waiting.

var {ByteArray} = require('binary');
var {Semaphore} = require('ringo/concurrent');
var http = require('ringo/httpclient');
var {escapeHtml} = require('ringo/utils/strings');
var {parseParameters} = require('ringo/utils/http');

var {Thread} = java.lang;

var HELLO = new Array(1024).join('x') + '\n';
var KILOBYTE = HELLO.toByteArray('ascii');

// Thrown anywhere, answered in `app`.
function Refusal(status, message) {
    this.status = status;
    this.message = message;
}

function whole(text, most) {
    if (/^\d+$/.test(text) && Number(text) <= most) {
        return Number(text);
    }
    throw new Refusal(400, 'a whole number from 0 to ' + most + ' is needed here');
}

function decimal(query, name, otherwise, most) {
    var text = name in query ? query[name] : otherwise;
    if (/^\d*\.?\d+$/.test(text) && Number(text) <= most) {
        return Number(text);
    }
    throw new Refusal(400, name + ' must be a number from 0 to ' + most);
}

function oneOf(query, name, choices) {
    var text = name in query ? query[name] : choices[0];
    if (choices.indexOf(text) < 0) {
        throw new Refusal(400, name + ' must be one of: ' + choices.join(', '));
    }
    return text;
}

function count(n) {
    var x = 0, end = +n; // now Rhino's compiler knows that both are numbers
    while (x < end) {
        x++;
    }
    return x;
}

function fib(n) {
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

function reply(status, type, bytes) {
    // Jetty would leave the length out where it closes the connection.
    return {status: status, headers: {'Content-Type': type, 'Content-Length': String(bytes.length)}, body: [bytes]};
}

function text(body) {
    return reply(200, 'text/plain', String(body).toByteString('utf-8'));
}

function json(value) {
    return reply(200, 'application/json', JSON.stringify(value).toByteString('utf-8'));
}

function hello() {
    return reply(200, 'text/plain', KILOBYTE);
}

function sleep(query) {
    var ms = decimal(query, 'ms', '100', 60000);
    var jitter = decimal(query, 'jitter', '0', 1);
    Thread.sleep(Math.round(ms * (1 + jitter * (2 * Math.random() - 1))));
    return hello();
}

function askPeer(peer, n) {
    try {
        var exchange = http.request({url: peer + '/fibs/' + n, readTimeout: 0});
        return whole(String(JSON.parse(exchange.content).fibResult), Infinity);
    } catch (failure) {
        throw new Refusal(502, 'the peer did not answer with a Fibonacci number: ' + failure.message);
    }
}

// What `spawn` runs must not throw: its error would come back wrapped beyond recognition.
function attempt(find, n) {
    try {
        return {value: find(n)};
    } catch (failure) {
        return {failure: failure};
    }
}

function result(attempted) {
    if (attempted.failure) {
        throw attempted.failure;
    }
    return attempted.value;
}

function pair(query, a, b) {
    var numbers = [whole(a, 60), whole(b, 60)];
    var find = fib;
    if (oneOf(query, 'where', ['local', 'remote']) === 'remote') {
        if (!/^http:\/\/[\w.:-]+(\/[\w.\/-]*)?$/.test(query.peer)) {
            throw new Refusal(400, 'where=remote needs peer=http://…');
        }
        find = function(n) { return askPeer(query.peer, n); };
    }
    if (oneOf(query, 'async', ['0', '1']) === '0') {
        var [x, y] = numbers.map(function(n) find(n));
        return json({a: x, b: y});
    }
    var [first, second] = numbers.map(function(n) spawn(attempt, [find, n]));
    return json({a: result(first.get()), b: result(second.get())});
}

// As in the article's benchmark. A ByteArray is an array of the JVM, which fills it with zeros.
function allocateBuffers() {
    for (var i = 1; i <= 50; i++) {
        var b = new ByteArray(1024);
    }
    return b.length === 1024 ? hello() : text('');
}

function allocateStrings() {
    for (var i = 1; i <= 50; i++) {
        var s = KILOBYTE.decodeToString('ascii');
    }
    return text(s);
}

function allocate(query, what) {
    switch (what) {
        case 'buffers': return allocateBuffers();
        case 'strings': return allocateStrings();
        default: throw new Refusal(404, 'no such route');
    }
}

// Holds n threads at a gate until the last has come. Not Ringo's `spawn`: its pool would keep them for a minute.
function holdThreads(query, number) {
    oneOf(query, 'kind', ['os']);
    var n = whole(number, 10000);
    var arrived = new Semaphore(), gate = new Semaphore(), held = [];
    var run = new java.lang.Runnable({run: function() {
        arrived.signal();
        gate.wait();
    }});
    // Rhino cannot catch an Error of the JVM: "unable to create native thread" has to come back as an Exception.
    var start = spawn(function() {
        while (held.length < n) {
            var thread = new Thread(run);
            thread.start();
            held.push(thread);
        }
    });
    try {
        start.get();
        arrived.wait(n);
    } catch (e if e.javaException instanceof java.util.concurrent.ExecutionException) {
        throw new Refusal(503, 'only ' + held.length + ' threads could be started');
    } finally {
        gate.signal(held.length);
        held.forEach(function(thread) thread.join());
    }
    return text(n);
}

// One pool for all workers: what `singleton` makes is made once, and shared by every private set of modules.
var database = module.singleton('database', function() {
    var url = String(java.lang.System.getenv('DATABASE_URL') || '');
    if (url === '') {
        return null;
    }
    var address = java.net.URI.create(url), config = new Packages.com.zaxxer.hikari.HikariConfig();
    var [user, password] = String(address.getUserInfo() || '').split(':');
    var port = address.getPort() < 0 ? '' : ':' + address.getPort();
    config.setJdbcUrl('jdbc:postgresql://' + address.getHost() + port + address.getRawPath());
    config.setUsername(user);
    config.setPassword(password || '');
    config.setMaximumPoolSize(Number(java.lang.System.getenv('POOL')));
    config.setConnectionTimeout(0);  // no limit
    return new Packages.com.zaxxer.hikari.HikariDataSource(config);
});

// Rows as arrays of texts; the one parameter that there may be is a whole number.
function find(connection, sql, number) {
    var statement = connection.prepareStatement(sql), rows = [];
    try {
        if (number !== undefined) {
            statement.setInt(1, number);
        }
        var found = statement.executeQuery(), width = found.getMetaData().getColumnCount();
        while (found.next()) {
            var row = [];
            for (var i = 1; i <= width; i++) {
                row.push(String(found.getString(i)));
            }
            rows.push(row);
        }
    } finally {
        statement.close();
    }
    return rows;
}

// Four questions, one after the other, on one connection.
function orders() {
    if (!database) {
        throw new Refusal(503, 'started without a database');
    }
    var connection = database.getConnection();
    try {
        var least = Number(find(connection, 'SELECT min(id) FROM customers')[0][0]);
        var most = Number(find(connection, 'SELECT max(id) FROM customers')[0][0]);
        var id = least + Math.floor(Math.random() * (most - least + 1));
        var customer = find(connection, 'SELECT name FROM customers WHERE id = ?', id)[0];
        if (!customer) {
            throw new Refusal(404, 'there is no customer ' + id);
        }
        var list = find(connection, 'SELECT ordered_on, item FROM orders WHERE customer_id = ? ORDER BY ordered_on', id);
    } finally {
        connection.close();
    }
    var items = list.map(function([on, item]) '<li>' + on + ': ' + escapeHtml(item) + '</li>\n').join('');
    var page = '<!DOCTYPE html>\n<title>Orders</title>\n<h1>' + escapeHtml(customer[0]) + '</h1>\n<ol>\n' + items + '</ol>\n';
    return reply(200, 'text/html; charset=utf-8', page.toByteString('utf-8'));
}

// Time in garbage collection since the start, over all of the JVM's collectors.
function collected() {
    var beans = java.lang.management.ManagementFactory.getGarbageCollectorMXBeans().iterator();
    var garbage = {seconds: 0, collections: 0};
    while (beans.hasNext()) {
        var bean = beans.next();
        garbage.seconds += bean.getCollectionTime() / 1000;
        garbage.collections += Number(bean.getCollectionCount());
    }
    return json(garbage);
}

function root() {
    return json({
        name: 'ringo',
        version: require('ringo/engine').version.join('.') + ', Java ' + java.lang.System.getProperty('java.version'),
        runtime: 'RingoJS',
        workers: Number(java.lang.System.getProperty('jetty.threads'))
    });
}

// By the first part of the path and the number of others, which a page takes after the query.
var pages = {
    '/0': root,
    'hello/0': hello,
    'sleep/0': sleep,
    'count/1': function(query, n) text('Hello, World ' + count(whole(n, 1e10)) + '\n'),
    'fast/1': function(query, n) text(Math.pow(whole(n, 1e6), 2)),
    'slow/1': function(query, n) text(fib(whole(n, 60))),
    'fibs/1': function(query, n) json({fibResult: fib(whole(n, 60))}),
    'pair/2': pair,
    'alloc/1': allocate,
    'spawn/1': holdThreads,
    'orders/0': orders,
    'gc/0': collected
};

function answer(request) {
    if (request.method !== 'GET' && request.method !== 'HEAD') {
        throw new Refusal(405, 'only GET and HEAD');
    }
    var parts = request.pathInfo.slice(1).split('/'), name = parts.shift();
    var page = pages[name + '/' + parts.length];
    if (!page) {
        throw new Refusal(404, 'no such route');
    }
    return page.apply(null, [parseParameters(request.queryString)].concat(parts));
}

exports.app = function(request) {
    try {
        return answer(request);
    } catch (failure if failure instanceof Refusal) {
        var refused = reply(failure.status, 'text/plain', failure.message.toByteString('utf-8'));
        if (failure.status === 405) {
            refused.headers.Allow = 'GET, HEAD';
        }
        return refused;
    }
};

if (require.main === module) {
    require('ringo/httpserver').main(module.id);
}
