import Foundation

/// Node's HTTP/2 server, which checks what it gets and answers as the path says.
struct NodeServer {
    let port: Int
    private let child: Child

    /// - Parameter settings: a JavaScript object of its SETTINGS.
    static func run<Result>(
        settings: String = "{}", goAwayAfter: Int = 0, _ body: (NodeServer) async throws -> Result
    ) async throws -> Result {
        let node = try Foreign.find("node", package: "nodejs")
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let script = try folder.file("server.js", Data(Self.script.utf8))
        let portFile = folder.url.appendingPathComponent("port")
        let child = try Child(node, [script.path, portFile.path, settings, "\(goAwayAfter)"], in: folder)
        defer { child.end() }
        let port = try await wait("node's port") { () -> Int? in
            guard child.isRunning else { throw TookTooLong(description: "node ended: \(try child.output())") }
            guard FileManager.default.fileExists(atPath: portFile.path) else { return nil }
            return Int(try String(contentsOf: portFile, encoding: .utf8))
        }
        return try await body(NodeServer(port: port, child: child))
    }

    private static let script = """
        const http2 = require('http2'), fs = require('fs')
        const [portFile, settings, goAwayAfter] = process.argv.slice(2)
        const server = http2.createServer({ settings: eval('(' + settings + ')') })
        let count = 0
        server.on('stream', (stream, headers) => {
          stream.on('error', () => {})
          if (++count == Number(goAwayAfter)) stream.session.goaway(0, stream.id, Buffer.from('{"reason":"Shutdown"}'))
          const chunks = []
          stream.on('data', chunk => chunks.push(chunk))
          stream.on('end', () => {
            const body = Buffer.concat(chunks)
            const sum = body.reduce((sum, byte) => (sum * 31 + byte) >>> 0, 0)
            if (headers['sum'] !== String(sum)) return stream.respond({ ':status': 500 }, { endStream: true })
            switch (headers[':path']) {
              case '/bare': return stream.respond({ ':status': 200 }, { endStream: true })
              case '/refuse': return stream.close(http2.constants.NGHTTP2_REFUSED_STREAM)
              case '/informed':
                stream.additionalHeaders({ ':status': 103 })
                stream.respond({ ':status': 200 }, { waitForTrailers: true })
                stream.on('wantTrailers', () => stream.sendTrailers({ 'x-done': 'yes' }))
                return stream.end()
              case '/error':
                stream.respond({ ':status': 410, 'apns-id': headers['apns-id'] })
                stream.write('{"reason":"Unreg')
                return setImmediate(() => { stream.write('istered",'); setImmediate(() => stream.end('"timestamp":1}')) })
              default:
                stream.respond({ ':status': 200, 'apns-id': headers['apns-id'] })
                stream.end()
            }
          })
        })
        server.listen(0, '127.0.0.1', () => {
          fs.writeFileSync(portFile + '.new', String(server.address().port))
          fs.renameSync(portFile + '.new', portFile)
        })
        """
}

/// The sum that the script checks.
func sum(_ body: [UInt8]) -> UInt32 { body.reduce(0) { $0 &* 31 &+ UInt32($1) } }

extension PlannedRequest {
    /// - Parameter tag: makes its body its own.
    static func post(_ path: String, tag: Int, bodySize: Int) -> PlannedRequest {
        let body = (0..<bodySize).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ tag) }
        return PlannedRequest(
            fields: [(":method", "POST"), (":path", path), ("sum", "\(sum(body))"), ("apns-id", "id-\(tag)")],
            body: body)
    }
}
