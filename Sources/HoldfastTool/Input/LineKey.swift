/// The names of a line's members. See Docs/Reference/Tool.md.
enum LineKey: String, CaseIterable {
    case token
    case tokens
    case channel
    case topic = "apns-topic"
    case pushType = "apns-push-type"
    case priority = "apns-priority"
    case expiration = "apns-expiration"
    case tryUntil = "try-until"
    case collapseID = "apns-collapse-id"
    case id = "apns-id"
    case payload
    case project
    case message
    case tag
    case producer
    case registeredAt = "token-registered-at"
    case guarantee
    case environment
    case deliverAfter = "deliver-after"
    case deliverWithin = "deliver-within"
    case context
    case newestWins = "newest-wins"
    case traceparent
    case tracestate

    /// Those of a line for Apple's services alone.
    static let apples: [LineKey] = [
        .token, .tokens, .channel, .topic, .pushType, .priority, .expiration, .collapseID, .payload, .environment,
        .newestWins,
    ]

    var bit: UInt32 { 1 << UInt32(Self.allCases.firstIndex(of: self)!) }

    /// Those that the gateway takes as header fields, under the names that they have there.
    private static let asHeaders: [(name: [UInt8], key: LineKey)] =
        [
            .tag, .producer, .registeredAt, .guarantee, .environment, .deliverAfter, .deliverWithin, .context,
            .newestWins,
        ].map { (name: Array("holdfast-\($0.rawValue)".utf8), key: $0) }

    /// For each length of a name, those that have it.
    static let byLength: [[(name: [UInt8], key: LineKey)]] = {
        let names = allCases.map { (name: Array($0.rawValue.utf8), key: $0) } + asHeaders
        return (0...names.reduce(0) { max($0, $1.name.count) }).map { length in
            names.filter { $0.name.count == length }
        }
    }()
}
