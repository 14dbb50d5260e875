// Node's http2, as node-apn and others use it. README.md has the arguments.
'use strict'
const fs = require('fs')
const http2 = require('http2')

const [host, port, ca, topic, first, count, concurrency, told] = process.argv.slice(2)
const toldFile = fs.openSync(told, 'a')
const end = Number(first) + Number(count)
// A gateway that was killed never answers, and a session does not always notice.
const deadline = 20_000
let next = Number(first)
let session

function connection() {
  if (session && !session.closed && !session.destroyed) return session
  const mine = http2.connect(`https://${host}:${port}`, { ca: fs.readFileSync(ca) })
  // What happens to the session happens to its streams, and those tell.
  mine.on('error', () => {})
  // After a GOAWAY no stream of it can be opened any more; those that are open may still be answered.
  mine.on('goaway', () => { if (session === mine) session = undefined })
  session = mine
  return mine
}

// Resolves to {status, text, retryAfter}; rejects when there was no answer.
function send(number) {
  return new Promise((resolve, reject) => {
    const stream = connection().request({
      ':method': 'POST',
      ':path': `/3/device/${number.toString(16).padStart(64, '0')}`,
      'apns-topic': topic,
      'apns-push-type': 'alert',
      // One for each notification, so that what is sent again can be seen to be the same.
      'apns-id': `00000000-0000-4000-8000-${number.toString(16).padStart(12, '0')}`,
    })
    let status = 0, retryAfter = 0.2, text = ''
    stream.setEncoding('utf8')
    stream.setTimeout(deadline, () => stream.close(http2.constants.NGHTTP2_CANCEL))
    stream.on('response', headers => {
      status = headers[':status']
      retryAfter = Number(headers['retry-after'] ?? retryAfter)
    })
    stream.on('data', chunk => { text += chunk })
    stream.on('error', reject)
    // A stream that is reset behind its headers ends without an error, and was not answered in full.
    stream.on('close', () => {
      if (status && stream.rstCode === http2.constants.NGHTTP2_NO_ERROR) resolve({ status, text, retryAfter })
      else reject(new Error(`no answer (${stream.rstCode})`))
    })
    stream.end(JSON.stringify({ aps: { alert: `Number ${number}`, sound: 'default' } }))
  })
}

const pause = seconds => new Promise(resolve => setTimeout(resolve, seconds * 1000))

async function sendUntilTold(number) {
  for (;;) {
    let answer
    try {
      answer = await send(number)
    } catch (error) {
      await pause(0.1)
      continue
    }
    if (answer.status === 200) return
    if (![429, 500, 503].includes(answer.status)) throw new Error(`${number} was refused: ${answer.status} ${answer.text}`)
    await pause(Math.min(answer.retryAfter, 5))
  }
}

async function work() {
  while (next < end) {
    const number = next++
    await sendUntilTold(number)
    fs.writeSync(toldFile, `${number}\n`)
  }
}

Promise.all(Array.from({ length: Number(concurrency) }, work)).then(
  () => process.exit(0),
  error => { console.error(error.message); process.exit(1) })
