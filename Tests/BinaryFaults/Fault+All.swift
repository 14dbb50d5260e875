import HoldfastMockAPNs
import HoldfastMocking

extension Fault {
    static let all: [Fault] = [none] + answers + misleading + connections + barriers

    /// Nothing but bad tokens.
    static let none = Fault(name: "none", what: "bad tokens, answered at once", behavior: { _, _ in nil })

    /// Errors that are true, and come in a way that is not easy.
    private static let answers: [Fault] = [
        Fault(
            name: "delayed", what: "each error 200 ms late, what comes until then discarded",
            behavior: { _, _ in .errors(MockBinaryAnswer(delay: .milliseconds(200))) }),
        Fault(
            name: "late", what: "three errors half as late again as the quiet period", foolsSilence: true,
            hasWideWindow: true,
            behavior: { log, setting in
                MockBinaryBehavior { one in
                    guard one.fault != nil, !one.isBarrier, log.happens(atMost: 3) else { return nil }
                    return MockBinaryAnswer(delay: setting.lateness)
                }
            }),
        Fault(
            name: "split", what: "each error byte by byte, 5 ms apart",
            behavior: { _, _ in .errors(MockBinaryAnswer(pieces: .init(every: 1, pause: .milliseconds(5)))) }),
        Fault(
            name: "split-tls", what: "what TLS writes of each error byte by byte",
            behavior: { _, _ in .errors(MockBinaryAnswer(pieces: .init(every: 1, isBelowTLS: true))) }),
        Fault(
            name: "reset-behind", what: "a reset right behind each error, which may overtake it", leavesOpen: true,
            behavior: { log, _ in
                MockBinaryBehavior { log.answerFirst($0, MockBinaryAnswer(ending: .reset)) }
            }),
        Fault(
            name: "reset-instead", what: "a reset instead of each error, the first time", leavesOpen: true,
            behavior: { log, _ in
                MockBinaryBehavior { log.answerFirst($0, MockBinaryAnswer(isAnswered: false, ending: .reset)) }
            }),
        Fault(
            name: "silent-close", what: "closed without a word instead of each error, the first time", leavesOpen: true,
            behavior: { log, _ in
                MockBinaryBehavior { log.answerFirst($0, MockBinaryAnswer(isAnswered: false)) }
            }),
    ]

    /// Words that are wrong, or that nobody knows.
    private static let misleading: [Fault] = [
        Fault(
            name: "never-issued", what: "each error names an identifier that was never issued, the first time",
            leavesOpen: true,
            behavior: { log, _ in
                MockBinaryBehavior { log.answerFirst($0, MockBinaryAnswer(identifier: .value(0xFFFF_FF00))) }
            }),
        Fault(
            name: "below-confirmed", what: "an error names what had been confirmed long before", withBarrier: false,
            leavesOpen: true, prelude: 100,
            behavior: { log, _ in
                MockBinaryBehavior { one in
                    log.saw(one.connection)
                    guard one.fault != nil, !one.isBarrier, log.isEarly(one.connection) else { return nil }
                    return MockBinaryAnswer(identifier: .firstOfConnection)
                }
            }),
        Fault(
            name: "status-42", what: "each error with an unknown status (42), the first time",
            behavior: { log, _ in MockBinaryBehavior { log.answerFirst($0, MockBinaryAnswer(.refused(42))) } }),
        Fault(
            name: "status-128", what: "each error with status 128, the first time",
            behavior: { log, _ in
                MockBinaryBehavior { log.answerFirst($0, MockBinaryAnswer(.refused(.invalidFrameItem))) }
            }),
    ]

    /// Connections that end, or do not.
    private static let connections: [Fault] = [
        Fault(
            name: "shutdown", what: "status 10 behind every 1000th notification of a connection",
            behavior: { _, _ in .shuttingDown(after: 1000) }),
        Fault(
            name: "refused", what: "the first six connections closed as they are accepted",
            behavior: { log, _ in MockBinaryBehavior(opening: { _ in log.happens(atMost: 6) ? .close : nil }) }),
        Fault(
            name: "cut", what: "four connections reset in the middle, without an error", leavesOpen: true,
            behavior: { log, setting in
                MockBinaryBehavior {
                    log.answerDeep($0, setting, atMost: 4, MockBinaryAnswer(isAnswered: false, ending: .reset))
                }
            }),
        Fault(
            name: "slow", what: "each connection read at 10,000 a second", hasWideWindow: true, receiveBuffer: 64 << 10,
            behavior: { _, _ in
                MockBinaryBehavior { one in
                    guard one.number % 50 == 0, one.fault == nil else { return nil }
                    return MockBinaryAnswer(isAnswered: false, ending: .stall(.milliseconds(5)))
                }
            }),
        Fault(
            name: "stall", what: "four connections not read from for a third of the quiet period",
            behavior: { log, setting in
                MockBinaryBehavior {
                    log.answerDeep(
                        $0, setting, atMost: 4,
                        MockBinaryAnswer(isAnswered: false, ending: .stall(setting.quietPeriod / 3)))
                }
            }),
        Fault(
            name: "half-open", what: "two connections never read from again, never closed", withQuiet: false,
            leavesOpen: true,
            behavior: { log, setting in
                MockBinaryBehavior {
                    log.answerDeep($0, setting, atMost: 2, MockBinaryAnswer(isAnswered: false, ending: .stall(nil)))
                }
            }),
        Fault(
            name: "black-hole", what: "two connections on which everything is discarded without a word",
            withQuiet: false, leavesOpen: true,
            behavior: { log, setting in
                MockBinaryBehavior {
                    log.answerDeep(
                        $0, setting, atMost: 2,
                        MockBinaryAnswer(.refused(.unknown), isAnswered: false, ending: .discard))
                }
            }),
    ]

    /// The notification that is malformed on purpose. A prelude makes sure that there is one: otherwise errors may prove
    /// everything.
    private static let barriers: [Fault] = [
        Fault(
            name: "barrier-zero", what: "each barrier's answer names identifier 0", withQuiet: false, prelude: 100,
            behavior: { _, _ in .barriers(MockBinaryAnswer(identifier: .value(0))) }),
        Fault(
            name: "barrier-silent", what: "two barriers not answered", withQuiet: false, leavesOpen: true, prelude: 100,
            behavior: { log, _ in
                MockBinaryBehavior { one in
                    guard one.isBarrier, log.happens(atMost: 2) else { return nil }
                    return MockBinaryAnswer(isAnswered: false, ending: .discard)
                }
            }),
        Fault(
            name: "barrier-closed", what: "two barriers answered by closing", withQuiet: false, leavesOpen: true,
            prelude: 100,
            behavior: { log, _ in
                MockBinaryBehavior { one in
                    guard one.isBarrier, log.happens(atMost: 2) else { return nil }
                    return MockBinaryAnswer(isAnswered: false)
                }
            }),
    ]
}
