'use strict';

// The shop: sessions in signed cookies, a token in every form, and a search that computes.

const { createHmac, pbkdf2, randomBytes, timingSafeEqual } = require('node:crypto');
const { parse } = require('node:querystring');
const { promisify } = require('node:util');
const { HttpError, escape, whole } = require('./work');

const SECRET = randomBytes(32);
const ITERATIONS = 100;
const GIFTS = '880'; // items to try by default: about 200 ms of computing
const MOST_BODY = 10_000;

const hash = promisify(pbkdf2);

function sign(text) {
  return createHmac('sha256', SECRET).update(text).digest('base64url');
}

function same(given, right) {
  const [a, b] = [Buffer.from(String(given)), Buffer.from(right)];
  return a.length === b.length && timingSafeEqual(a, b);
}

// A session is `id.customer`, with an empty customer before the login.
class Session {
  constructor(id, customer) {
    this.id = id;
    this.customer = customer;
  }

  static of(req) {
    const [, id, customer, signature] = /(?:^|; )session=([^.;]+)\.(\d*)\.([^;]+)/.exec(req.headers.cookie ?? '') ?? [];
    return signature && same(signature, sign(`${id}.${customer}`)) ? new Session(id, customer) : null;
  }

  static fresh(customer = '') {
    return new Session(randomBytes(16).toString('base64url'), customer);
  }

  get cookie() {
    const text = `${this.id}.${this.customer}`;
    return { 'Set-Cookie': `session=${text}.${sign(text)}; Path=/; HttpOnly; SameSite=Lax` };
  }

  get token() {
    return sign(`token ${this.id}`);
  }
}

async function form(req, session) {
  let text = '';
  for await (const chunk of req.setEncoding('utf8')) {
    text += chunk;
    if (text.length > MOST_BODY) throw new HttpError(413, 'the form is too long');
  }
  const fields = parse(text);
  if (!session || !same(fields.authenticity_token, session.token)) throw new HttpError(403, 'the form is not from here');
  return fields;
}

function customerOf(session) {
  if (!session?.customer) throw new HttpError(401, 'log in first');
  return session.customer;
}

const id = (text) => (/^\d{1,9}$/.test(text) ? Number(text) : 0);
const euros = (cents) => (cents / 100).toFixed(2);
const line = ({ name, price }) => `${escape(name)}: ${euros(price)}`;
const page = (...body) => ({ body: `<!DOCTYPE html>\n<title>Shop</title>\n${body.join('\n')}\n` });
const list = (items) => `<ul>\n${items.map((item) => `<li>${line(item)}</li>\n`).join('')}</ul>`;
const hidden = (session) => `<input type="hidden" name="authenticity_token" value="${session.token}">`;
const seeOther = (path) => ({ status: 303, headers: { Location: path }, body: `<a href="${path}">See there</a>\n` });

module.exports = (database) => {
  const find = async (sql, ...values) => (await database.query(sql, values)).rows;

  function loginForm(req) {
    const session = Session.of(req) ?? Session.fresh();
    return {
      ...page('<form method="post" action="/shop/login">', hidden(session), '<input name="customer">',
        '<input name="password" type="password">', '<button>Log in</button>', '</form>'),
      headers: session.cookie,
    };
  }

  async function login(req) {
    const { customer, password = '' } = await form(req, Session.of(req));
    const [account] = await find('SELECT salt, password_hash FROM shop_accounts WHERE customer_id = $1', id(customer));
    const key = account && await hash(String(password), account.salt, ITERATIONS, 32, 'sha256');
    if (!key || !same(key.toString('hex'), account.password_hash)) throw new HttpError(401, 'wrong customer or password');
    return { ...seeOther('/shop/search'), headers: { Location: '/shop/search', ...Session.fresh(id(customer)).cookie } };
  }

  async function search(req, { q = '' }) {
    const session = Session.of(req) ?? Session.fresh();
    const items = await find(
      'SELECT id, name, price FROM shop_items WHERE strpos(name, $1) > 0 ORDER BY price, id LIMIT 10', String(q));
    const rows = items.map((item) =>
      `<li><button name="item" value="${item.id}">${escape(item.name)}</button>: ${euros(item.price)}</li>`);
    return {
      ...page('<form method="post" action="/shop/orders">', hidden(session), '<ul>', ...rows, '</ul>', '</form>'),
      headers: session.cookie,
    };
  }

  async function order(req) {
    const session = Session.of(req);
    const fields = await form(req, session);
    const customer = customerOf(session);
    const [item] = await find('SELECT id FROM shop_items WHERE id = $1', id(fields.item));
    if (!item) throw new HttpError(404, 'there is no such item');
    const [bought] = await find(
      'INSERT INTO shop_purchases (customer_id, item_id) VALUES ($1, $2) RETURNING id', customer, item.id);
    return seeOther(`/shop/orders/${bought.id}`);
  }

  async function receipt(req, number) {
    const [bought] = await find(
      'SELECT c.name AS customer, i.name, i.price FROM shop_purchases p JOIN customers c ON c.id = p.customer_id '
      + 'JOIN shop_items i ON i.id = p.item_id WHERE p.id = $1 AND p.customer_id = $2',
      id(number), customerOf(Session.of(req)));
    if (!bought) throw new HttpError(404, 'there is no such receipt');
    return page(`<h1>${escape(bought.customer)}</h1>`, list([bought]));
  }

  // All threes of the first items, one after another, in the callback: whoever else asks meanwhile waits.
  async function gifts({ budget = '10000', among = GIFTS }) {
    const most = whole(budget, 1e9);
    const items = await find('SELECT id, name, price FROM shop_items ORDER BY id LIMIT $1', whole(among, 10_000));
    const prices = items.map((item) => item.price);
    let best = 0;
    let three = [];
    for (let i = 0; i < prices.length; i++) {
      for (let j = i + 1; j < prices.length; j++) {
        for (let k = j + 1; k < prices.length; k++) {
          const sum = prices[i] + prices[j] + prices[k];
          if (sum <= most && sum > best) {
            best = sum;
            three = [i, j, k];
          }
        }
      }
    }
    return page(`<h1>${euros(best)}</h1>`, list(three.map((at) => items[at])));
  }

  return async (req) => {
    const [path, query] = req.url.split('?', 2);
    if (!path.startsWith('/shop/')) return undefined;
    if (!database) throw new HttpError(503, 'started without a database');
    const method = req.method === 'HEAD' ? 'GET' : req.method;
    switch (`${method} ${path}`) {
      case 'GET /shop/login': return loginForm(req);
      case 'POST /shop/login': return login(req);
      case 'GET /shop/search': return search(req, parse(query));
      case 'POST /shop/orders': return order(req);
      case 'GET /shop/gifts': return gifts(parse(query));
    }
    const [, number] = /^\/shop\/orders\/([^/]+)$/.exec(path) ?? [];
    return method === 'GET' && number ? receipt(req, number) : undefined;
  };
};
