/// The way to an owner through something that carries bytes.
struct TunnelWay: WayToOwner {
    let ask: @Sendable (_ request: [UInt8]) async throws -> (host: String, answer: [UInt8])
    let end: @Sendable () async -> Void

    func send(_ resource: Resource, _ query: String, _ body: [UInt8]) async throws -> Answer {
        let request = TunnelRequest(resource: resource.rawValue, query: query, body: body)
        let (_, bytes) = try await ask(request.bytes)
        return try TunnelAnswer.read(bytes)
    }

    func send(path: String, _ body: [UInt8]) async throws -> Answer {
        let (_, bytes) = try await ask(TunnelRequest(resource: path, query: "", body: body).bytes)
        return try TunnelAnswer.read(bytes)
    }

    func send(_ resource: Resource) async throws -> (host: String, answer: Answer) {
        let (host, bytes) = try await ask(TunnelRequest(resource: resource.rawValue, query: "", body: []).bytes)
        return (host, try TunnelAnswer.read(bytes))
    }

    func close() async { await end() }
}
