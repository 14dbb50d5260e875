// Node's http2, telling what it was answered, request by request. README.md has the arguments.
'use strict'
const crypto = require('crypto')
const fs = require('fs')
const http2 = require('http2')

const [host, port, ca, plan, concurrency, answers, key, keyID, teamID] = process.argv.slice(2)

function providerToken() {
  const part = object => Buffer.from(JSON.stringify(object)).toString('base64url')
  const text = `${part({ alg: 'ES256', kid: keyID })}.${part({ iss: teamID, iat: Math.floor(Date.now() / 1000) })}`
  const signature = crypto.sign('sha256', Buffer.from(text), { key: fs.readFileSync(key), dsaEncoding: 'ieee-p1363' })
  return `bearer ${text}.${signature.toString('base64url')}`
}

if (plan === '-') {
  console.log(providerToken())
  process.exit(0)
}

const requests = fs.readFileSync(plan, 'utf8').split('\n').filter(line => line).map(line => JSON.parse(line))
const out = fs.openSync(answers, 'w')
const authorization = providerToken()
const session = http2.connect(`https://${host}:${port}`, { ca: fs.readFileSync(ca) })
session.on('error', error => { console.error(error.message); process.exit(1) })
let next = 0

function ask(request) {
  return new Promise((resolve, reject) => {
    const stream = session.request({
      ':method': request.method, ':path': request.path, authorization, ...request.headers,
    })
    let told = {}, text = ''
    stream.setEncoding('utf8')
    stream.on('response', headers => {
      told = { status: headers[':status'], id: headers['apns-id'], outcome: headers['holdfast-outcome'] }
    })
    stream.on('data', chunk => { text += chunk })
    stream.on('error', reject)
    stream.on('close', () => {
      if (!told.status) return reject(new Error(`request ${request.number} has no answer (${stream.rstCode})`))
      resolve({ number: request.number, ...told, ...(text ? JSON.parse(text) : {}) })
    })
    stream.end(request.body)
  })
}

async function work() {
  while (next < requests.length) fs.writeSync(out, JSON.stringify(await ask(requests[next++])) + '\n')
}

// The first one alone: until SETTINGS have come, a client guesses how many streams it may open.
ask(requests[next++]).then(first => {
  fs.writeSync(out, JSON.stringify(first) + '\n')
  return Promise.all(Array.from({ length: Number(concurrency) }, work))
}).then(() => process.exit(0), error => { console.error(error.message); process.exit(1) })
