internal import Holdfast

extension HandOut {
    /// The notifications with their tickets; nil for one that can't be read.
    var notifications: [(ticket: Ticket, notification: PushNotification?)] {
        tickets.enumerated().map { index, ticket in
            do throws(PackedNotification.Damage) {
                return (ticket, try entries.notification(at: index))
            } catch {
                return (ticket, nil)
            }
        }
    }
}
