import Foundation
import HoldfastMocking

extension ChannelRegistry {
    /// The answer of the channel management.
    enum Answer {
        case done(status: Int, headers: [(name: String, value: String)] = [], body: [UInt8] = [])
        case refused(MockRejection)
    }

    /// Carries out an authorised request.
    func answer(to target: RequestTarget, _ fields: RequestFields, _ body: [UInt8]) -> Answer {
        switch target {
        case .allChannels(let bundleID):
            return list(bundleID)
        case .channel(let bundleID):
            return switch fields.method {
            case "POST": create(bundleID, body)
            case "GET": withChannel(fields) { read($0, bundleID) }
            case "DELETE": withChannel(fields) { delete($0, bundleID) }
            default: .refused("MethodNotAllowed")
            }
        case .device, .broadcast, .nothing:
            return .refused("BadPath")
        }
    }

    private static let pushType = "LiveActivity"

    /// The body of a request that creates a channel.
    private struct Wish: Decodable {
        let storage: Int?
        let pushType: String?

        enum CodingKeys: String, CodingKey {
            case storage = "message-storage-policy"
            case pushType = "push-type"
        }
    }

    private func create(_ bundleID: String, _ body: [UInt8]) -> Answer {
        guard !body.isEmpty else { return .refused("PayloadEmpty") }
        guard let wish = try? JSONDecoder().decode(Wish.self, from: Data(body)) else { return .refused("BadRequest") }
        guard let pushType = wish.pushType else { return .refused("MissingPushType") }
        guard pushType == Self.pushType else { return .refused("InvalidPushType") }
        guard let storage = wish.storage.flatMap(MockChannel.Storage.init) else { return .refused("BadRequest") }
        let id = Data((0..<16).map { _ in UInt8.random(in: 0...255) }).base64EncodedString()
        guard add(MockChannel(bundleID: bundleID, id: id, storage: storage)) else {
            return .refused("CannotCreateChannelConfig")
        }
        return .done(status: 201, headers: [("apns-channel-id", id)])
    }

    private func read(_ id: String, _ bundleID: String) -> Answer {
        guard let storage = storage(of: id, bundleID) else { return .refused("ChannelNotRegistered") }
        let body = #"{"message-storage-policy":\#(storage.rawValue),"push-type":"\#(Self.pushType)"}"#
        return .done(status: 200, body: Array(body.utf8))
    }

    private func delete(_ id: String, _ bundleID: String) -> Answer {
        remove(id, bundleID) ? .done(status: 204) : .refused("ChannelNotRegistered")
    }

    private func list(_ bundleID: String) -> Answer {
        let ids = ids(of: bundleID).map { #""\#($0)""# }.joined(separator: ",")
        return .done(status: 200, body: Array(#"{"channels":[\#(ids)]}"#.utf8))
    }

    private func withChannel(_ fields: RequestFields, _ body: (String) -> Answer) -> Answer {
        if let rejection = RequestValidator.rejection(ofChannelIn: fields) { return .refused(rejection) }
        return fields.channel.map(body) ?? .refused("MissingChannelId")
    }
}
