internal import Holdfast
internal import HoldfastControl
internal import HoldfastService

extension RouteFacts {
    /// - Parameter now: compared with the dates of certificates.
    func findings(at now: WallTime) -> [DoctorFinding] {
        [credentialsFinding(now), tokenFinding].compactMap(\.self) + addressFindings
            + [connection(now), probe, clock].compactMap(\.self)
    }

    private func ok(_ check: String, _ found: String) -> DoctorFinding { .ok(area, check, name, found) }

    private func warning(_ check: String, _ found: String, next: String) -> DoctorFinding {
        .warning(area, check, name, found, next: next)
    }

    private func fault(_ check: String, _ found: String, next: String) -> DoctorFinding {
        .fault(area, check, name, found, next: next)
    }

    // MARK: Credentials

    /// The finding about a route to Apple's services without credentials.
    static func withoutCredentials(_ route: String, _ area: DoctorFinding.Area = .routes) -> DoctorFinding {
        .fault(
            area, "credentials", route,
            "none, and Apple refuses all that comes without: nothing is delivered and everything kept",
            next: "give the route a signing-key or a certificate")
    }

    private func credentialsFinding(_ now: WallTime) -> DoctorFinding? {
        let place = environment.map { ", for \($0)" } ?? ""
        switch credentials {
        case nil: return nil
        case .none? where isApples: return Self.withoutCredentials(name, area)
        case .none?: return ok("credentials", "none")
        case .unusable(let why)?:
            return fault("credentials", why, next: "mend what is named; a running service keeps what it read before")
        case .firebase(let words)?: return ok("credentials", words)
        case .key(let id, let team)?: return ok("credentials", "a signing key: key id \(id), team \(team)\(place)")
        case .certificate(let topics, let environment, let notAfter)?:
            let names = topics.isEmpty ? "" : " for \(topics.prefix(4).joined(separator: ", "))"
            let more = topics.count > 4 ? " and \(topics.count - 4) more topics" : ""
            let kind = environment.map { ", \($0)" } ?? ""
            let words = "a certificate\(names)\(more)\(kind), good until \(ChainFacts.date(notAfter))"
            guard let end = ExpiryJudge.words(notAfter, now: now, days: 30) else { return ok("credentials", words) }
            let next = "get a new certificate, and put it in its place: it is taken up without a restart"
            return end.isNear
                ? fault("credentials", "\(words): \(end.text)", next: next)
                : warning("credentials", "\(words): \(end.text)", next: next)
        }
    }

    /// What the endpoint of access tokens, or the command for them, has answered.
    private var tokenFinding: DoctorFinding? {
        guard isFirebase else { return nil }
        guard let tokenFailure else { return ok("token", "an access token is there") }
        return fault(
            "token", tokenFailure.message.printable(maximumLength: 2048),
            next: tokenFailure.advice
                ?? "see that the service account is enabled and its key not deleted, that this machine's clock is right, and "
                + "that the endpoint of access tokens (token_uri of the file) can be reached")
    }

    // MARK: The way there

    private var addressFindings: [DoctorFinding] {
        let what = proxy.map { "the proxy \($0)" } ?? endpoint
        switch addresses {
        case nil: return []
        case .unknown(let why)?:
            return [
                fault(
                    "name", "\(what): \(why)",
                    next: "see to the name, to /etc/resolv.conf and to the network: `getent ahosts HOST` asks the same")
            ]
        case .found(let found)?:
            let failed = found.filter { $0.failure != nil }
            let words = found.map { address in
                "\(address.text) \(address.failure ?? address.time.map { $0 < .milliseconds(1) ? "under 1 ms" : Format.duration($0) } ?? "")"
            }.joined(separator: ", ")
            let count = Format.plural(found.count, "address", "addresses")
            if failed.isEmpty { return [ok("addresses", "\(what) has \(count): \(words)")] }
            let next = "see to the network and the firewall: TCP to this port must be allowed"
            if failed.count == found.count {
                let places = found.count > 1 ? " at any of \(count)" : ""
                return [fault("addresses", "\(what) can't be reached\(places): \(words)", next: next)]
            }
            return [
                warning(
                    "addresses", "\(what) can't be reached at \(failed.count) of \(count): \(words)",
                    next: next + "; the others are used meanwhile")
            ]
        }
    }

    private func connection(_ now: WallTime) -> DoctorFinding? {
        if let failure, connectTime == nil {
            return fault(
                "connection", failure.message.printable(maximumLength: 2048),
                next: failure.advice
                    ?? "see to host and port of the endpoint, to the proxy if there is one, and whether the service is up"
            )
        }
        guard let connectTime else { return nil }
        let time = "ready after \(Format.duration(connectTime))"
        if isCleartext { return ok("connection", "in the clear, on this machine, \(time)") }
        guard let chain else { return ok("connection", time) }
        let name = checksName ? "the name matches" : "the name is not checked, as configured"
        let words = "\(chain.words); \(name); \(time)"
        let next = "whoever runs the service has to renew it"
        if let end = ExpiryJudge.words(chain.notAfter, now: now, days: 3) {
            return warning("connection", "\(words): \(end.text)", next: next)
        }
        if let authorityEnd = chain.authorityEnd, let end = ExpiryJudge.words(authorityEnd, now: now, days: 14) {
            let whose = chain.authority ?? "an authority"
            return warning("connection", "\(words); the certificate of \(whose) above it: \(end.text)", next: next)
        }
        return ok("connection", words)
    }

    // MARK: The probe

    private var probe: DoctorFinding? {
        if let notAsked { return .skipped(area, "probe", name, notAsked) }
        guard connectTime != nil, topic != nil else { return nil }
        guard let answer else {
            return failure.map {
                fault("probe", $0.message.printable(maximumLength: 2048), next: "try again; the service may be busy")
            }
        }
        return judged(answer)
    }

    private func judged(_ answer: SendResult) -> DoctorFinding {
        let reason = answer.reason
        let guide = reason.map { ReasonGuide.of($0, status: answer.status) }
        let said = [answer.status.map { "\($0)" }, reason?.rawValue.printable(maximumLength: 64)].compactMap(\.self)
            .joined(separator: " ")
        let time = answerTime.map { " after \(Format.duration($0))" } ?? ""
        let meaning = guide.map { ": \($0.meaning)" } ?? ""
        let request =
            isFirebase
            ? "a message for the project \(topic ?? "") that Google only checks"
            : "a request for topic \(topic ?? "") to a token that no device has"
        let asked = "\(request) was answered \(said)\(time)"
        switch answer.verdict {
        case .rejected(.suspectToken), .rejected(.token):
            return ok("probe", "\(asked), as it must be: the credentials are taken")
        case .confirmed where isFirebase: return ok("probe", "\(asked): the credentials are taken")
        case .confirmed: return ok("probe", "\(asked): the credentials are taken, and so is any token")
        case .rejected(.notification), .rejected(.request):
            return warning(
                "probe", "\(asked)\(meaning); the credentials are taken", next: guide?.advice ?? "look the reason up")
        case .laneStopped(.topic):
            return fault(
                "probe", "\(asked)\(meaning)", next: "see that topic, key and certificate are of one app and team")
        case .laneStopped(.credentials), .neverProcessed(.newProviderToken):
            return fault(
                "probe", "\(asked)\(meaning)\(answer.detail.map { " (\($0))" } ?? "")",
                next: isFirebase
                    ? "see that the project is the right one, that its Firebase Cloud Messaging API is enabled, and that the "
                        + "service account may send for it"
                    : "see that key file, key-id, team-id and endpoint belong together, and that this machine's clock is right"
            )
        case .foreign:
            return fault(
                "probe",
                "\(asked), which is no answer of a push service: another server is there, or in between"
                    + (answer.detail.map { " (\($0))" } ?? ""),
                next: "see to the endpoint, the proxy and the name resolution")
        case .deferred, .neverProcessed, .unknown:
            return warning("probe", "\(asked)\(meaning)", next: guide?.advice ?? "it passes by itself; ask again later")
        }
    }

    // MARK: The clock

    /// From here on somebody should look; provider tokens are good for an hour.
    private static let muchOffset = Duration.seconds(30)
    private static let tooMuchOffset = Duration.seconds(600)

    private var clock: DoctorFinding? {
        guard let clockOffset else { return clockByToken }
        let size = max(clockOffset, .zero - clockOffset)
        // The service tells its time in whole seconds.
        guard size > .seconds(2) else { return ok("clock", "this machine's clock agrees with the service's") }
        let words =
            "this machine's clock is \(Format.span(size)) \(clockOffset < .zero ? "ahead of" : "behind") the service's"
        let next = "set the clock, and have it kept right (`timedatectl set-ntp true`)"
        if size >= Self.tooMuchOffset {
            return fault(
                "clock",
                "\(words): \(isFirebase ? "access" : "provider") tokens, expirations and certificates are judged wrong",
                next: next)
        }
        return size >= Self.muchOffset ? warning("clock", words, next: next) : ok("clock", words)
    }

    private var clockByToken: DoctorFinding? {
        guard answer != nil else { return nil }
        if isFirebase, answer?.verdict == .confirmed {
            return ok("clock", "the service tells no time, and it took this machine's access token")
        }
        if case .key? = credentials, case .rejected? = answer?.verdict {
            return ok(
                "clock",
                "the service tells no time, and it took a provider token of this machine: the clock is right to the hour"
            )
        }
        return .skipped(area, "clock", name, "the service tells no time")
    }
}
