internal import Holdfast
internal import HoldfastOpenSSL
internal import HoldfastTransport
internal import NIOCore

/// Asks the engine how a connection's notifications end, for errors about those that are on disk.
extension BinaryServerHandler {
    struct News: Sendable {
        let number: Int
        let ending: BinaryFate.Ending
    }

    func committed(_ receipts: [Receipt], _ watch: OutcomeWatch?) {
        session.committed(receipts, now: .now(), canTell: watch != nil && phase == .serving)
        follow(watch)
        watch?.end()
    }

    /// Asks how notifications end of which an error may be said, and asks no more about the others.
    func follow(_ watch: OutcomeWatch? = nil) {
        guard session.tellsErrors else { return }
        for its in session.takeTracked() {
            let (fate, number, mailbox) = (its.fate, its.number, errorMailbox)
            fate.watch { mailbox.put(News(number: number, ending: $0)) }
            guard let uid = its.uid, let watch else { continue }
            let wait = watch.feed.await(uid, watch.watch) { fate.end($0) }
            fate.onForget { watch.feed.forget(wait) }
        }
        for fate in session.takeUntracked() { fate.abandon() }
        errorTimer?.cancel()
        errorTimer = session.dueAt.map { due in
            loop.assumeIsolated().scheduleTask(deadline: due) { self.pump() }
        }
    }

    private var errorMailbox: LoopMailbox<News> {
        if let mailbox { return mailbox }
        let handler = NIOLoopBound(self, eventLoop: loop)
        let mailbox = LoopMailbox<News>(on: loop) { news in
            for piece in news { handler.value.session.ended(piece.number, piece.ending, now: .now()) }
            handler.value.pump()
        }
        self.mailbox = mailbox
        return mailbox
    }

    func forgetErrors() {
        session.letGo()
        follow()
        errorTimer?.cancel()
        mailbox = nil
    }

    /// What the connections of one sender have in common: its certificate, or else its address.
    static func sender(_ client: KnownClient?, _ channel: any Channel) -> [UInt8] {
        if let client, let certificate = try? client.certificate.der() { return certificate }
        return Array((channel.remoteAddress?.ipAddress ?? "").utf8)
    }
}
