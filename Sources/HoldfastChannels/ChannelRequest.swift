internal import Foundation
internal import Holdfast
internal import HoldfastHTTP2

/// One request to the management service, as it is written: Apple's *Managing broadcast channels*.
struct ChannelRequest: Sendable {
    enum Action: Sendable {
        case create(MessageStoragePolicy)
        case read(BroadcastChannel)
        case delete(BroadcastChannel)
        case list

        /// Whether it matters if it is done twice, or not at all.
        var changesSomething: Bool {
            switch self {
            case .create, .delete: true
            case .read, .list: false
            }
        }
    }

    let action: Action
    let bundleID: String
    /// The `apns-request-id`, by which Apple can find it.
    let id = UUID().uuidString.lowercased()

    init(_ action: Action, bundleID: String) {
        self.action = action
        self.bundleID = bundleID
    }

    var path: String {
        switch action {
        case .create, .read, .delete: "/1/apps/\(bundleID)/channels"
        case .list: "/1/apps/\(bundleID)/all-channels"
        }
    }

    var channel: BroadcastChannel? {
        switch action {
        case .read(let channel), .delete(let channel): channel
        case .create, .list: nil
        }
    }

    var body: [UInt8] {
        guard case .create(let policy) = action else { return [] }
        return Array(#"{"message-storage-policy":\#(policy.rawValue),"push-type":"LiveActivity"}"#.utf8)
    }

    /// The request in words, for people.
    var text: String {
        switch action {
        case .create: "a channel of \(bundleID) can't be created"
        case .read(let channel): "the channel \(channel) of \(bundleID) can't be read"
        case .delete(let channel): "the channel \(channel) of \(bundleID) can't be deleted"
        case .list: "the channels of \(bundleID) can't be listed"
        }
    }

    /// Without the dynamic table: so few requests are not worth one.
    func headerBlock(authority: String, isCleartext: Bool, authorization: [UInt8]?) -> [UInt8] {
        var block: [UInt8] = []
        func append(_ name: String, _ value: some Collection<UInt8>, _ indexing: HPACKWriter.Indexing = .without) {
            HPACKWriter.appendLiteral(name: name.utf8, value: value, indexing: indexing, to: &block)
        }
        switch action {
        case .create: HPACKWriter.appendIndexed(HPACKStaticIndex.methodPost, to: &block)
        case .read, .list: HPACKWriter.appendIndexed(HPACKStaticIndex.methodGet, to: &block)
        case .delete:
            HPACKWriter.appendLiteral(
                nameIndex: HPACKStaticIndex.methodGet, value: "DELETE".utf8, indexing: .without, to: &block)
        }
        HPACKWriter.appendIndexed(isCleartext ? HPACKStaticIndex.schemeHTTP : HPACKStaticIndex.schemeHTTPS, to: &block)
        HPACKWriter.appendLiteral(nameIndex: HPACKStaticIndex.path, value: path.utf8, indexing: .without, to: &block)
        HPACKWriter.appendLiteral(
            nameIndex: HPACKStaticIndex.authority, value: authority.utf8, indexing: .without, to: &block)
        if let authorization {
            HPACKWriter.appendLiteral(
                nameIndex: HPACKStaticIndex.authorization, value: authorization, indexing: .never, to: &block)
        }
        append("apns-request-id", id.utf8)
        if let channel { append("apns-channel-id", channel.id.utf8) }
        if !body.isEmpty { append("content-type", "application/json".utf8) }
        return block
    }
}
