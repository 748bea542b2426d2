// SPDX-License-Identifier: MIT
// Package: acl 0.4.11
// Is: access control lists for Node.js
// Lost: A permission is removed while another is given: the role keeps one that no list shows and
//   that not even removing the role removes.
// Kind: access
// Fixed: not yet
// Link: new
// Expected: not serializable, 1
// Clients: give take
// Options: --init examples/found/acl.redis
// Install: npm:acl@0.4.11 npm:redis@2.8.0
const Acl = require('acl');

const db = require('redis').createClient(process.env.REDIS_URL);
const acl = new Acl(new Acl.redisBackend(db, 'acl'));
const done = (error) => { if (error) throw error; db.quit(); };

if (process.argv[2] === 'give') acl.allow('editor', 'blog', 'view', done);
else acl.removeAllow('editor', 'blog', 'edit', done);
