internal import Holdfast

/// The notifications that a run takes into the journal, while it delivers those that are in it.
enum Intake: Sendable {
    case nothing
    case file(InputTask)
    /// Given by flags: at most ``NotificationLine/maximumTokenCount``, in one commit.
    case notifications([PushNotification])

    /// For people: how the run continues after the intake has failed.
    var afterFailure: String {
        switch self {
        case .nothing, .file: "taking no more, and delivering what was taken"
        case .notifications: "delivering what was there"
        }
    }

    /// Whether it is worth a line that a Producer has nothing more. Of each that flags gave there is a line anyway.
    var saysDrained: Bool {
        switch self {
        case .nothing, .file: true
        case .notifications: false
        }
    }
}
