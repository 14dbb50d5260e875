/// What connectors have said of their keys and certificates, and have not taken back.
///
/// A pure machine.
struct CredentialFindings: Sendable {
    private struct Place: Hashable, Sendable {
        let route: String
        let kind: ConnectorNotice.Kind
    }

    private var said: [Place: (notice: ConnectorNotice, since: WallTime)] = [:]

    /// - Returns: whether it says that something is wrong.
    mutating func take(_ notice: ConnectorNotice, of route: String, at now: WallTime) -> Bool {
        switch notice.kind {
        case .credentialsReloaded:
            for kind in [ConnectorNotice.Kind.credentialsExpire, .credentialsNotReloaded] {
                said[Place(route: route, kind: kind)] = nil
            }
            return false
        case .serviceCertificateRenewed:
            said[Place(route: route, kind: .serviceCertificateExpires)] = nil
            return false
        case .credentialsExpire, .credentialsNotReloaded, .serviceCertificateExpires:
            let place = Place(route: route, kind: notice.kind)
            said[place] = (notice, said[place]?.since ?? now)
            return true
        default: return false
        }
    }

    mutating func forget(_ route: String) { said = said.filter { $0.key.route != route } }

    var conditions: [HealthCondition] {
        said.map { place, value in
            let isOurs = place.kind == .credentialsExpire
            let expires = place.kind != .credentialsNotReloaded
            return HealthCondition(
                expires ? .certificateExpiring : .tokenKeyTrouble, value.notice.isUrgent ? .fault : .warning,
                expires ? "certificate" : "route", isOurs || !expires ? place.route : "push service of \(place.route)",
                route: place.route, since: value.since,
                cause: value.notice.message, what: "route \(place.route): \(value.notice.message)",
                next: isOurs
                    ? "put a new certificate in its place; it is taken up without a restart"
                    : expires
                        ? "tell whoever runs the push service; from then on no connection can be made"
                        : "put a file that can be used in its place, and have it read again",
                command: expires ? nil : "holdfast lanes reload")
        }
    }
}
