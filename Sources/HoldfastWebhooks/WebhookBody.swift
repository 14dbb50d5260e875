internal import Holdfast

/// The body of a request: JSON.
enum WebhookBody {
    /// - Parameters:
    ///   - webhook: of letters, digits, hyphens and underscores.
    ///   - outcomes: the JSON of each.
    static func bytes(
        _ post: WebhookMachine.Post, id: String, webhook: String, timestamp: WallTime, outcomes: ArraySlice<[UInt8]>
    ) -> [UInt8] {
        let head =
            "{\"type\":\"outcomes\",\"webhook\":\"\(webhook)\",\"id\":\"\(id)\",\"timestamp\":\""
            + "\(Timestamp.format(timestamp))\",\"attempt\":\(post.attempt),\"possible-duplicate\":"
            + "\(post.isPossibleDuplicate),\"missed\":\(post.missed),\(post.wasOff ? "\"was-off\":true," : "")\"outcomes\":["
        var body = Array(head.utf8)
        body.reserveCapacity(head.utf8.count + outcomes.reduce(2) { $0 + $1.count + 1 })
        for (index, outcome) in outcomes.enumerated() {
            if index > 0 { body.append(UInt8(ascii: ",")) }
            body += outcome
        }
        body += "]}".utf8
        return body
    }
}
