internal import Foundation
internal import Holdfast
internal import HoldfastAPNs
internal import HoldfastHTTP2

/// A deviation of an answer from Apple's documentation.
struct ChannelAnswerFault: Error {
    let what: String
}

extension HTTP2Response {
    /// Bytes of an answer about one channel. They have some fifty.
    static let greatestAnswer = 64 << 10
    /// Bytes of a list: 10,000 ids of 100 characters, with room.
    static let greatestList = 2 << 20

    /// The reason of a refusal; `nil` when it is not in Apple's form.
    var reason: String? { ErrorBody(body).reason }

    /// The id of a created channel.
    func channel() throws(ChannelAnswerFault) -> BroadcastChannel {
        guard let id = headers.first(name: "apns-channel-id") else {
            throw ChannelAnswerFault(what: "names no apns-channel-id")
        }
        return try Self.channel(id)
    }

    func configuration() throws(ChannelAnswerFault) -> ChannelConfiguration {
        struct Body: Decodable {
            var policy: Int
            var pushType: String?
            enum CodingKeys: String, CodingKey {
                case policy = "message-storage-policy"
                case pushType = "push-type"
            }
        }
        let body = try decoded(Body.self, atMost: Self.greatestAnswer)
        return ChannelConfiguration(
            storagePolicy: MessageStoragePolicy(rawValue: body.policy),
            pushType: String((body.pushType ?? "").prefix(64)))
    }

    func channels() throws(ChannelAnswerFault) -> [BroadcastChannel] {
        struct Body: Decodable { var channels: [String] }
        let ids = try decoded(Body.self, atMost: Self.greatestList).channels
        var channels: [BroadcastChannel] = []
        channels.reserveCapacity(ids.count)
        for id in ids { channels.append(try Self.channel(id)) }
        return channels
    }

    private static func channel(_ id: String) throws(ChannelAnswerFault) -> BroadcastChannel {
        do throws(Refusal) {
            return try BroadcastChannel(id)
        } catch {
            throw ChannelAnswerFault(what: "names a channel \(id.prefix(40).debugDescription) that is none")
        }
    }

    private func decoded<Body: Decodable>(
        _ type: Body.Type, atMost limit: Int
    ) throws(ChannelAnswerFault) -> Body {
        guard !isTruncated, body.count <= limit else {
            throw ChannelAnswerFault(what: "has a body of more than \(limit >> 10) KiB")
        }
        do {
            return try JSONDecoder().decode(type, from: Data(body))
        } catch {
            throw ChannelAnswerFault(what: "has a body of \(body.count) bytes that is not what Apple documents")
        }
    }
}
