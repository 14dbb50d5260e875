internal import CHoldfastPQ

/// Makes a connection to the first place that will do.
struct Connecting {
    let target: PQTarget
    let session: PQSession
    let patience: Patience
    /// Places that are passed over, with their addresses.
    var avoided: Set<PQPlace> = []

    struct Made {
        let handle: PQHandle
        let place: PQPlace
    }

    /// Tries the places in their order, each with an equal part of the time. A server that refuses for a reason of its own
    /// (it starts, it is full) is passed over; one that refuses these credentials ends the attempt, as with libpq.
    func connect() throws(PQError) -> Made {
        guard target.role == .preferStandby else { return try connect(target.role) }
        // libpq's order, too: all are asked whether they are standbys before another is taken.
        do throws(PQError) {
            return try Connecting(
                target: target, session: session, patience: patience.share(among: 2), avoided: avoided
            ).connect(.standby)
        } catch  where error.kind == .unreachable {
            return try connect(.any)
        }
    }

    private func connect(_ role: PQTarget.Role) throws(PQError) -> Made {
        var failures: [PQError] = []
        for (index, place) in target.places.enumerated() {
            let share = patience.share(among: target.places.count - index)
            do throws(PQError) {
                return try connect(to: place, role, share)
            } catch {
                guard error.kind == .unreachable else { throw error }
                failures.append(error)
            }
        }
        throw Self.summary(failures)
    }

    /// - Parameter place: as the string has it, perhaps with several addresses.
    private func connect(to place: PQPlace, _ role: PQTarget.Role, _ patience: Patience) throws(PQError) -> Made {
        var failures: [PQError] = []
        let places = try resolved(place, patience)
        for (index, place) in places.enumerated() {
            do throws(PQError) {
                return try attempt(place, role, patience.share(among: places.count - index))
            } catch {
                guard error.kind == .unreachable else { throw error }
                failures.append(error)
            }
        }
        throw Self.summary(failures)
    }

    /// The addresses of a place. libpq would look names up itself, and wait for that without a limit; with addresses beside
    /// the name it only compares the name with the certificate.
    private func resolved(_ place: PQPlace, _ patience: Patience) throws(PQError) -> [PQPlace] {
        guard !place.isSocket, place.address == nil else { return [place] }
        if HostAddress.isNumeric(place.host) {
            return [PQPlace(host: place.host, address: place.host, port: place.port)]
        }
        return try HostLookup.addresses(of: place.host, patience).map {
            PQPlace(host: place.host, address: $0, port: place.port)
        }
    }

    private func attempt(_ place: PQPlace, _ role: PQTarget.Role, _ patience: Patience) throws(PQError) -> Made {
        guard !avoided.contains(place) else { throw PQError(.unreachable, "\(place.words): passed over") }
        do throws(PQError) {
            return try attempt(place, role, patience, settings: session.startUp)
        } catch {
            // Such as pgbouncer, which takes few parameters. The session is set up by statements in any case.
            guard error.mayComeOfSettings else { throw error }
            return try attempt(place, role, patience, settings: [:])
        }
    }

    /// - Parameter settings: those with which the session begins.
    private func attempt(
        _ place: PQPlace, _ role: PQTarget.Role, _ patience: Patience, settings: [String: String]
    ) throws(PQError) -> Made {
        let options = target.options(
            for: place, role: role, applicationName: session.applicationName, settings: settings)
        guard let handle = PQHandle(starting: options) else { throw PQError(.unreachable, "no memory") }
        if handle.isBad, !handle.errorMessage.hasPrefix("connection to server") {
            throw PQError(
                .configuration,
                "the connection string for PostgreSQL can't be used: "
                    + ConnectionString.withoutQuotations(handle.errorMessage))
        }
        // As libpq wants it: at first as if it had said that it wants to write.
        var next = handle.isBad ? PGRES_POLLING_FAILED : PGRES_POLLING_WRITING
        while next != PGRES_POLLING_OK {
            guard next != PGRES_POLLING_FAILED else {
                throw ConnectionFailure(handle.errorMessage).error(at: place, lacksPassword: handle.lacksPassword)
            }
            let isReading = next == PGRES_POLLING_READING
            switch patience.wait(handle.socket, reading: isReading, writing: !isReading) {
            case .ready: next = handle.pollConnecting()
            case .deadline: throw PQError(.unreachable, "\(place.words): no answer in time", cause: .deadline)
            case .interruption: throw .interrupted
            }
        }
        guard handle.becomeNonBlocking() else {
            throw ConnectionFailure(handle.errorMessage).error(at: place, lacksPassword: false)
        }
        return Made(handle: handle, place: place)
    }

    private static func summary(_ failures: [PQError]) -> PQError {
        guard let first = failures.first, failures.count > 1 else {
            return failures.first ?? PQError(.unreachable, "there is no server to connect to")
        }
        let causes = Set(failures.map(\.cause))
        return PQError(
            .unreachable, failures.map(\.message).joined(separator: "; "),
            cause: causes.count == 1 ? first.cause : nil, server: failures.lazy.compactMap(\.server).first)
    }
}

extension PQError {
    /// Whether a server or pooler may have refused a session for the settings with which it was to begin: with the SQLSTATE of
    /// pgbouncer's refusals, or as a feature, a value, a right, a word or a parameter that is not there.
    fileprivate var mayComeOfSettings: Bool {
        guard kind == .refused, let sqlState else { return false }
        return ["08P01", "0A000", "22023", "42501", "42601", "42704"].contains(sqlState)
    }
}
