package import Holdfast
internal import HoldfastHTTP2
package import HoldfastRequests
internal import NIOCore

/// A ``RequestSession`` between a test, which hands out and lets time pass, and a service that the test plays. No channel,
/// no clock.
///
/// Each entry's payload names its ticket, so that what arrived at the service is known by tickets, too.
package final class SessionRig<Dialect: RequestDialect> where Dialect.Batch == HandOut, Dialect.Result == SendResult {
    package var session: RequestSession<Dialect>
    package var service: ServiceModel
    package private(set) var now: Moment
    /// Written, and not carried to the service yet.
    private var wire = ByteBuffer()
    private var countedBytes = 0
    package var told = SessionRecord()

    package init(_ dialect: Dialect, _ settings: RequestSettings, streams: Int = 100) {
        now = Moment(
            monotonic: .seconds(1000), wall: WallTime(seconds: 1_800_000_000))
        session = RequestSession(dialect, settings, at: now)
        service = ServiceModel(streams: streams)
    }

    /// One that is open.
    package static func opened(_ dialect: Dialect, _ settings: RequestSettings, streams: Int = 100) -> SessionRig {
        let rig = SessionRig(dialect, settings, streams: streams)
        rig.step { $0.begin(at: $1) }
        rig.exchange()
        return rig
    }

    // MARK: The sender's side

    /// Hands out so many entries in one piece, with the next tickets.
    package func handOut(_ count: Int) {
        let handOut = told.handOut(count)
        step {
            $0.enqueue([handOut])
            $0.pump(at: $1)
        }
    }

    /// Does something with the session at this moment, and performs what it says.
    package func step(_ input: (inout RequestSession<Dialect>, Moment) -> Void) {
        input(&session, now)
        session.drainOutput(into: &wire)
        told.written(Array(wire.readableBytesView.dropFirst(countedBytes)))
        countedBytes = wire.readableBytes
        for action in session.takeActions() { told.take(action) }
    }

    /// Lets time pass by both clocks, and looks whenever the session wants to be looked at.
    package func advance(_ duration: Duration) {
        let end = now.monotonic + duration
        while let next = session.nextLook, next <= end {
            move(to: max(next, now.monotonic))
            step { $0.look(at: $1) }
            if let again = session.nextLook, again <= now.monotonic {
                told.violations.append("it wants to be looked at again at the moment it was looked at")
                break
            }
        }
        move(to: end)
    }

    private func move(to time: Duration) {
        let passed = time - now.monotonic
        now = Moment(monotonic: time, wall: now.wall.advanced(by: passed))
    }

    // MARK: The wire

    /// Carries bytes to and fro until nobody has any.
    package func exchange() {
        repeat { toService() } while toSession()
    }

    /// Bytes that the session has written and nobody has carried yet.
    package var outputCount: Int { wire.readableBytes }

    /// Carries what the session has written to the service.
    package func toService() {
        guard wire.readableBytes > 0 else { return }
        service.receive(wire)
        (wire, countedBytes) = (ByteBuffer(), 0)
    }

    /// Carries what the service has written to the session, as one read.
    ///
    /// - Parameter size: of each piece that it is cut into; nil for one.
    /// - Returns: whether there was anything.
    @discardableResult
    package func toSession(inPiecesOf size: Int? = nil) -> Bool {
        let bytes = service.session.takeOutput()
        guard !bytes.isEmpty else { return false }
        read([bytes], size: size)
        return true
    }

    /// Bytes that the service's model would not write, as one read.
    package func read(_ pieces: [[UInt8]], size: Int? = nil) {
        for piece in pieces {
            for start in stride(from: 0, to: piece.count, by: size ?? max(piece.count, 1)) {
                let end = min(start + (size ?? piece.count), piece.count)
                let part = Array(piece[start..<end])
                step { session, _ in session.receive(part.span) }
            }
        }
        step { $0.finishReading(at: $1) }
        step { $0.pump(at: $1) }
    }
}
