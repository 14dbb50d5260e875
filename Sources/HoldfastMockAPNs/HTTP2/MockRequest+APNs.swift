import HoldfastMocking

extension MockRequest.Subject {
    init(_ fields: RequestFields, _ target: RequestTarget) {
        self.init(
            token: target.isDevice ? fields.token.lowercased() : nil, topic: target.bundleID ?? fields.topic,
            channel: fields.channel)
    }
}
