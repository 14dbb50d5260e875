// Node's http2 as a push service over TLS: answers 200, changes its SETTINGS on the way, says GOAWAY now and then.
//
//   node server.js PORT-FILE CERTIFICATE KEY LEDGER [OPTIONS as JSON: settings, goAwayEvery, changeEvery]
const http2 = require('http2'), fs = require('fs')
const [portFile, certificate, key, ledger, text] = process.argv.slice(2)
const options = JSON.parse(text || '{}')
const server = http2.createSecureServer({
  cert: fs.readFileSync(certificate), key: fs.readFileSync(key), settings: options.settings || {},
})
const out = fs.openSync(ledger, 'a')
const changes = [
  { initialWindowSize: 200, maxConcurrentStreams: 5 }, { initialWindowSize: 65535, headerTableSize: 0 },
  { initialWindowSize: 1 << 20, maxConcurrentStreams: 100, headerTableSize: 4096 }, { maxFrameSize: 20000 },
]
let total = 0
server.on('session', session => {
  session.on('error', () => {})
  let count = 0
  session.on('stream', (stream, headers) => {
    stream.on('error', () => {})
    count += 1
    total += 1
    if (options.changeEvery && total % options.changeEvery === 0) {
      session.settings(changes[total / options.changeEvery % changes.length])
    }
    // The streams above are never processed; the sender closes once those below are done.
    if (count === options.goAwayEvery) session.goaway(0, stream.id)
    const last = count >= (options.goAwayEvery || Infinity) && count !== options.goAwayEvery
    const chunks = []
    stream.on('data', chunk => chunks.push(chunk))
    stream.on('end', () => {
      if (last) return
      const token = headers[':path'].split('/').pop(), body = Buffer.concat(chunks)
      fs.writeSync(out, JSON.stringify({
        token, id: headers['apns-id'], taken: true, answer: 200, sound: body.includes(token), size: body.length,
      }) + '\n')
      stream.respond({ ':status': 200, 'apns-id': headers['apns-id'] }, { endStream: true })
    })
  })
})
server.listen(0, '127.0.0.1', () => {
  fs.writeFileSync(portFile + '.new', String(server.address().port))
  fs.renameSync(portFile + '.new', portFile)
})
