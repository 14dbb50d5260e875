/// A resource of the control socket, by its path. Client and server share this list.
enum Resource: String, CaseIterable, Sendable {
    case owner = "/v1"
    case status = "/v1/status"
    case insights = "/v1/entries/insights"
    case pause = "/v1/lanes/pause"
    case resume = "/v1/lanes/resume"
    case connect = "/v1/routes/connect"
    case pauseTag = "/v1/tags/pause"
    case resumeTag = "/v1/tags/resume"
    case reloadCredentials = "/v1/credentials/reload"
    case submit = "/v1/notifications"
    case submitLines = "/v1/files/notifications"
    case withdraw = "/v1/entries/withdraw"
    case restore = "/v1/entries/restore"
    case retry = "/v1/rejections/retry"
    case discard = "/v1/rejections/discard"
    case retryQuarantined = "/v1/quarantine/retry"
    case blacklist = "/v1/blacklist/add"
    case unblacklist = "/v1/blacklist/remove"
    case findOutcomes = "/v1/outcomes/find"
    case listOutcomes = "/v1/outcomes/list"
    case outcomeReaders = "/v1/outcomes/readers"
    case openReader = "/v1/outcomes/readers/open"
    case moveReader = "/v1/outcomes/readers/move"
    case forgetReader = "/v1/outcomes/readers/forget"

    /// Whether it is read with GET. All others have a body, or change something, and are a POST.
    var isRead: Bool {
        switch self {
        case .owner, .status, .findOutcomes, .listOutcomes, .outcomeReaders: true
        default: false
        }
    }
}

/// The limits of a message. Both ends check them, so that neither can make the other's memory grow.
struct MessageLimits: Hashable, Sendable {
    /// Of a request's body and of an answer's. The largest batch of the largest notifications takes less.
    var bodyByteCount = 8 << 20
    /// Of a request's head.
    var headByteCount = 16 << 10
    /// Header fields.
    var fieldCount = 100

    /// - Throws: ``ControlError`` with code `tooLarge`.
    func check(_ body: [UInt8], _ what: String) throws(ControlError) {
        guard body.count <= bodyByteCount else {
            throw ControlError(.tooLarge, "\(what) has \(body.count) bytes: at most \(bodyByteCount)")
        }
    }
}
