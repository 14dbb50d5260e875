// Sends each notification once with Node's own http2, and notes what it was told of each.
//
//     node node_once.js HOST PORT CA KEY TOPIC COUNT CONCURRENCY TOLD
'use strict'
const fs = require('fs')
const http2 = require('http2')

const [host, port, ca, , topic, count, concurrency, toldPath] = process.argv.slice(2)
const told = fs.openSync(toldPath, 'w')
let next = 1
let session

function connection() {
  if (session && !session.closed && !session.destroyed) return session
  const mine = http2.connect(`https://${host}:${port}`, { ca: fs.readFileSync(ca) })
  // Its streams tell what happened to it.
  mine.on('error', () => {})
  mine.on('goaway', () => { if (session === mine) session = undefined })
  session = mine
  return mine
}

function send(number) {
  return new Promise((resolve, reject) => {
    const stream = connection().request({
      ':method': 'POST', ':path': `/3/device/${number.toString(16).padStart(64, '0')}`,
      'apns-topic': topic, 'apns-push-type': 'alert',
    })
    let status = 0, text = ''
    stream.setEncoding('utf8')
    stream.on('response', headers => { status = headers[':status'] })
    stream.on('data', chunk => { text += chunk })
    stream.on('error', reject)
    stream.on('close', () => status ? resolve({ status, text }) : reject(new Error('no answer')))
    stream.end(JSON.stringify({ aps: { alert: `Number ${number}` } }))
  })
}

async function work() {
  while (next <= Number(count)) {
    const number = next++
    try {
      const { status, text } = await send(number)
      fs.writeSync(told, `${number} ${status} ${text && JSON.parse(text).reason}\n`)
    } catch (error) {
      fs.writeSync(told, `${number} none ${error.code ?? error.message}\n`)
    }
  }
}

Promise.all(Array.from({ length: Number(concurrency) }, work)).then(() => process.exit(0))
