import http2 from 'node:http2'
import { readFileSync } from 'node:fs'
const [gateway, authority, token, id] = process.argv.slice(2)
const session = http2.connect(gateway, { ca: readFileSync(authority) })
const headers = { 'apns-topic': 'com.example.app', 'apns-push-type': 'alert', 'apns-id': id }
const push = session.request({ ':method': 'POST', ':path': `/3/device/${token}`, ...headers })
push.on('response', headers => console.log(headers[':status'], headers['apns-id']))
push.on('data', body => console.log(String(body)))
push.on('error', error => { console.error(`no answer: ${error.message}`); process.exitCode = 75 })
push.on('close', () => session.close())
push.end(JSON.stringify({ aps: { alert: 'Hi from Node' } }))
