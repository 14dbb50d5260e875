internal import Foundation
internal import Holdfast
internal import HoldfastControl
internal import HoldfastPlatform
internal import HoldfastService
internal import UnixSignals

/// `holdfast top` on a terminal: asks the owner, reads keys, draws, and gives the terminal back however it ends.
final class TopSession {
    private enum Event: Sendable {
        case keys([UInt8])
        case signal(UnixSignal)
        /// Somebody wants the process to stop by job control.
        case stop
        case asked(TopOwner.Answer)
        case performed(TopMachine.Order, failure: String?)
        case found(TopMachine.Found)
        case tick
    }

    private let owner: TopOwner
    private let terminal: TopTerminal
    private let signs: TopSigns
    private var model: TopModel
    private var painter: TopPainter
    private var keys = TopKeyReader()
    /// Whether somebody has stopped the process, and nobody has continued it.
    private var isSuspended = false
    /// What the owner said last that was no answer.
    private var failure: String?
    private let (events, source) = AsyncStream<Event>.makeStream()

    init(_ owner: TopOwner, _ terminal: TopTerminal, interval: Duration, signs: TopSigns, usesColor: Bool) {
        (self.owner, self.terminal, self.signs) = (owner, terminal, signs)
        model = TopModel(journal: "\(owner.place)", interval: interval)
        painter = TopPainter(usesColor: usesColor)
    }

    /// - Throws: ``Interruption`` after a signal.
    func run() async throws {
        let signals = await UnixSignalsSequence(
            trapping: .sigint, .sigterm, .sighup, .sigquit, .sigwinch, .sigcont)
        let stopWatch = StopWatch { [source] in source.yield(.stop) }
        defer { withExtendedLifetime(stopWatch) {} }
        terminal.take()
        defer { terminal.giveBack() }
        let tasks = sources(signals)
        defer { for task in tasks { task.cancel() } }
        draw()
        for await event in events {
            guard try take(event) else { return }
            draw()
        }
    }

    /// What the session listens to.
    private func sources(_ signals: UnixSignalsSequence) -> [Task<Void, Never>] {
        let (source, owner, interval) = (source, owner, model.interval)
        return [
            Task { for await signal in signals { source.yield(.signal(signal)) } },
            Task {
                let reader = StreamReader(descriptor: STDIN_FILENO)
                while let bytes = try? await reader.read(), !bytes.isEmpty { source.yield(.keys(Array(bytes))) }
                // Nobody types any more: the terminal has gone away.
                if !Task.isCancelled { source.yield(.signal(.sighup)) }
            },
            Task {
                for await answer in owner.answers(every: interval) { source.yield(.asked(answer)) }
            },
            Task {
                // Ages grow, and silence is to be seen, without an answer as well.
                while !Task.isCancelled {
                    do { try await Task.sleep(for: .seconds(1)) } catch { return }
                    source.yield(.tick)
                }
            },
        ]
    }

    /// - Returns: false when it is over.
    private func take(_ event: Event) throws -> Bool {
        switch event {
        case .keys(let bytes):
            for key in keys.keys(in: bytes) {
                for action in model.machine.press(key) where !perform(action) { return false }
            }
        case .signal(.sigwinch): painter.forget()
        case .signal(.sigcont): resume()
        case .signal(let signal): throw Interruption(signal)
        case .stop: suspend()
        case .asked(.sample(let sample, let name)):
            (model.owner, failure) = (name, nil)
            model.history.add(sample)
            model.machine.took(sample.status)
        case .asked(.failure(let words)): failure = words
        case .performed(let order, let failure): model.machine.performed(order, failure: failure)
        case .found(let found): model.machine.found(found)
        case .tick: break
        }
        return true
    }

    /// - Returns: false when it is over.
    private func perform(_ action: TopMachine.Action) -> Bool {
        let (source, owner) = (source, owner)
        switch action {
        case .quit: return false
        case .redraw: painter.forget()
        case .suspend: JobControl.stopJob()
        case .perform(let order):
            Task { source.yield(.performed(order, failure: await owner.perform(order))) }
        case .find(let text):
            Task { source.yield(.found(await TopFinding(place: owner.place).find(text))) }
        }
        return true
    }

    /// Gives the terminal back, and stops. Other threads may stop a little before this one: nothing more is written until
    /// SIGCONT comes.
    private func suspend() {
        isSuspended = true
        terminal.giveBack()
        JobControl.stop()
    }

    private func resume() {
        isSuspended = false
        // A shell sets the mode of its own while we are stopped.
        terminal.giveBack()
        terminal.take()
        painter.forget()
    }

    private func draw() {
        guard !isSuspended else { return }
        let size = terminal.size
        model.silence = silence
        model.machine.showsLane = TopScreen.showsLane(in: size)
        let screen = TopScreen(model: model, size: size, signs: signs, now: EngineClock.system.wall())
        let output = painter.paint(screen.lines(), size)
        if !output.isEmpty, !terminal.write(output) { source.yield(.signal(.sighup)) }
    }

    /// Why there is no newer sample.
    private var silence: String? {
        guard let newest = model.history.newest else { return failure }
        let age = EngineClock.system.monotonic() - newest.at
        guard failure != nil || age > model.interval * 2 + .seconds(3) else { return nil }
        return "for \(Format.span(age)): \(failure ?? "the owner does not answer")"
    }
}
