import HoldfastMocking

/// The target of a request, by its path. The two sides of the service know different paths.
enum RequestTarget {
    /// A notification to a device.
    case device
    /// A broadcast to all subscribers of a channel of this app.
    case broadcast(bundleID: String)
    /// A channel of this app to create, read or delete.
    case channel(bundleID: String)
    /// The list of this app's channels.
    case allChannels(bundleID: String)
    case nothing

    private static let broadcastPrefix = "/4/broadcasts/apps/"
    private static let managementPrefix = "/1/apps/"

    /// - Parameter isManagement: whether it came to the address for channel management.
    init(path: String?, isManagement: Bool) {
        guard let path else {
            self = .nothing
            return
        }
        if isManagement {
            self = Self.management(path)
        } else if path.hasPrefix(RequestFields.pathPrefix) {
            self = .device
        } else if path.hasPrefix(Self.broadcastPrefix) {
            let bundleID = String(path.dropFirst(Self.broadcastPrefix.utf8.count))
            self = RequestValidator.isTopic(bundleID) ? .broadcast(bundleID: bundleID) : .nothing
        } else {
            self = .nothing
        }
    }

    private static func management(_ path: String) -> RequestTarget {
        guard path.hasPrefix(managementPrefix) else { return .nothing }
        let parts = path.dropFirst(managementPrefix.utf8.count).split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, RequestValidator.isTopic(String(parts[0])) else { return .nothing }
        let bundleID = String(parts[0])
        return switch parts[1] {
        case "channels": .channel(bundleID: bundleID)
        case "all-channels": .allChannels(bundleID: bundleID)
        default: .nothing
        }
    }

    func knows(method: String?) -> Bool {
        switch self {
        case .device, .broadcast: method == "POST"
        case .channel: method == "POST" || method == "GET" || method == "DELETE"
        case .allChannels: method == "GET"
        case .nothing: false
        }
    }

    var isDevice: Bool { if case .device = self { true } else { false } }

    /// The app that the request is about; nil for a notification to a device, which names it in a header field.
    var bundleID: String? {
        switch self {
        case .broadcast(let bundleID), .channel(let bundleID), .allChannels(let bundleID): bundleID
        case .device, .nothing: nil
        }
    }
}
