import Foundation
import Holdfast
import NIOCore

/// The dialogue on one connection: each page is PAGE, MESS, SEND, and each line of it has a reply. Confined to its event loop.
final class PagerSession: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private enum Step { case greeting, idle, page, message, send, reset, ended }

    private struct Page {
        let ticket: Ticket
        let pager: String
        let message: String
    }

    private struct Text: Decodable { let message: String }

    let channel: any Channel
    let greeting: EventLoopPromise<Void>

    private let sink: ConnectionSink
    private let replyTimeout: Duration
    private var step = Step.greeting
    private var isClosing = false
    /// The first one is under way unless the step is idle.
    private var pages: [Page] = []
    private var received = ByteBuffer()
    private var timeout: Scheduled<Void>?

    init(channel: any Channel, sink: ConnectionSink, replyTimeout: Duration) {
        (self.channel, self.sink, self.replyTimeout) = (channel, sink, replyTimeout)
        greeting = channel.eventLoop.makePromise()
        waitForReply()
    }

    // MARK: The engine's side

    func take(_ handOut: HandOut) {
        // The end has answered for everything that comes after it: it was never sent.
        guard step != .ended else { return }
        for (index, ticket) in handOut.tickets.enumerated() {
            do {
                let notification = try handOut.entries.notification(at: index)
                let message = Self.message(of: notification)
                pages.append(Page(ticket: ticket, pager: Self.line(notification.recipient.text), message: message))
            } catch {
                sink(.results([(ticket, .notSent("the entry can't be read: \(error)"))]))
            }
        }
        next()
    }

    func close(within deadline: Duration) {
        guard step != .ended, !isClosing else { return }
        isClosing = true
        // What was not begun is given back at once. What is under way gets its time.
        let waiting = step == .idle || step == .reset ? pages[...] : pages.dropFirst()
        pages.removeLast(waiting.count)
        if !waiting.isEmpty { sink(.results(waiting.map { ($0.ticket, .notSent("the connection closes")) })) }
        guard !pages.isEmpty else { return end(nil) }
        let session = NIOLoopBound(self, eventLoop: channel.eventLoop)
        channel.eventLoop.scheduleTask(in: TimeAmount(deadline)) { session.value.end(nil) }
    }

    // MARK: The gateway's side

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        received.writeBuffer(&bytes)
        while let length = received.readableBytesView.firstIndex(of: UInt8(ascii: "\n")) {
            let line = received.readString(length: length - received.readerIndex + 1) ?? ""
            reply(Int(line.prefix(3)) ?? 0, line.trimmingCharacters(in: .whitespacesAndNewlines))
        }
        if received.readableBytes > 1024 { end("the gateway speaks no SNPP: a line of more than 1024 bytes") }
    }

    func channelInactive(context: ChannelHandlerContext) { end("the gateway closed the connection") }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { end("\(error)") }

    private func reply(_ code: Int, _ line: String) {
        timeout?.cancel()
        switch (step, code) {
        case (.greeting, 220):
            step = .idle
            greeting.succeed()
        case (.page, 250): say("MESS \(pages[0].message)", .message)
        case (.message, 250): say("SEND", .send)
        case (.send, 250):
            sink(.confirmed([pages.removeFirst().ticket]))
            step = .idle
        case (.reset, 250): step = .idle
        case (.page, 550): settle(.rejected(.token), code, line)
        case (.message, 550): settle(.rejected(.notification), code, line)
        // The gateway knows nothing of it: this page is to blame, for now.
        case (.page, 500...599), (.message, 500...599), (.send, 500...599): settle(.deferred(.token), code, line)
        case (.page, 421), (.message, 421), (.send, 421):
            settle(.neverProcessed(.newConnection), code, line)
            end(line)
        default: end("an unexpected reply: \(line)")
        }
        next()
    }

    /// Reports an answer, and clears the page at the gateway.
    private func settle(_ verdict: SendResult.Verdict, _ code: Int, _ line: String) {
        let reason = Reason(rawValue: "SNPP\(code)")
        sink(.results([(pages.removeFirst().ticket, SendResult(verdict, status: code, reason: reason, detail: line))]))
        say("RESE", .reset)
    }

    private func next() {
        guard step == .idle else { return }
        if let page = pages.first {
            say("PAGE \(page.pager)", .page)
        } else if isClosing {
            end(nil)
        }
    }

    private func say(_ line: String, _ next: Step) {
        step = next
        channel.writeAndFlush(ByteBuffer(string: line + "\r\n"), promise: nil)
        waitForReply()
    }

    private func waitForReply() {
        let session = NIOLoopBound(self, eventLoop: channel.eventLoop)
        timeout = channel.eventLoop.scheduleTask(in: TimeAmount(replyTimeout)) {
            session.value.end("no reply within \(session.value.replyTimeout)")
        }
    }

    /// The end answers for all that is left: only a page whose SEND was written may have been taken.
    private func end(_ cause: String?) {
        guard step != .ended else { return }
        let possiblySent = step == .send ? pages.prefix(1).map(\.ticket) : []
        let wasGreeted = step != .greeting
        if step == .page || step == .message, let page = pages.first {
            sink(.results([(page.ticket, .notSent("the connection ended before SEND"))]))
        }
        step = .ended
        timeout?.cancel()
        pages = []
        if wasGreeted {
            sink(.ended(ConnectionEnd(possiblySent: possiblySent, cause: cause)))
        } else {
            greeting.fail(ConnectError(.temporary, cause ?? "closed"))
        }
        channel.writeAndFlush(ByteBuffer(string: "QUIT\r\n"), promise: nil)
        channel.close(promise: nil)
    }

    // MARK: Lines

    private static func message(of notification: PushNotification) -> String {
        let text = try? JSONDecoder().decode(Text.self, from: Data(notification.payload))
        return line(text?.message ?? String(decoding: notification.payload, as: UTF8.self))
    }

    /// A text of an application's users must not become a command of ours.
    private static func line(_ text: String) -> String {
        let scalars = text.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 }
        return String(String.UnicodeScalarView(scalars))
    }
}
