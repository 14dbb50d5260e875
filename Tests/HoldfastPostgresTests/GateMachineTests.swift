import HoldfastPQ
import HoldfastPostgres
import Testing

@Suite("The machine of the gate")
struct GateMachineTests {
    private func again(_ step: GateMachine.Step) -> Bool {
        if case .sendAgain = step { true } else { false }
    }

    @Test("A database that is away is asked again for ever, with pauses that grow to two seconds")
    func away() {
        var machine = GateMachine()
        var pauses: [Duration] = []
        for _ in 0..<9 {
            guard case .sendAgain(let pause) = machine.failed(.withoutEffect, isStopped: false) else { continue }
            pauses.append(pause)
        }
        #expect(pauses.first == .milliseconds(50) && pauses.last == .seconds(2) && pauses.count == 9)
        #expect(machine.failed(.withoutEffect, isStopped: true) == .notKept(.stopped))
    }

    @Test("What is in doubt is sent again, and stays in doubt until it is answered, whatever is refused meanwhile")
    func doubt() {
        var machine = GateMachine()
        #expect(again(machine.failed(.inDoubt, isStopped: false)))
        for failure: GateMachine.Failure in [.withoutEffect, .refused(sqlState: "25006"), .refused(sqlState: "53100")] {
            #expect(again(machine.failed(failure, isStopped: false)))
        }
        #expect(machine.stopped() == .undetermined(.stopped))
        #expect(machine.failed(.withoutEffect, isStopped: true) == .undetermined(.stopped))
    }

    @Test("Another owner means that a commit is not kept, unless an earlier try may have been")
    func lost() {
        var machine = GateMachine()
        #expect(machine.failed(.refused(sqlState: "HF001"), isStopped: false) == .notKept(.ownershipLost))
        var doubting = GateMachine()
        _ = doubting.failed(.inDoubt, isStopped: false)
        #expect(doubting.failed(.refused(sqlState: "HF001"), isStopped: false) == .undetermined(.ownershipLost))
    }

    @Test(
        "Another commit of the number, or a gap before it, means that this one is not kept",
        arguments: ["HF002", "HF003"])
    func contradicted(state: String) {
        var machine = GateMachine()
        _ = machine.failed(.inDoubt, isStopped: false)
        #expect(machine.failed(.refused(sqlState: state), isStopped: false) == .notKept(.contradicted))
    }

    @Test(
        "Where somebody writes back what the log lacks, a gap waits for it, and what was in doubt stays so until the answer"
    )
    func mended() {
        var machine = GateMachine(isMended: true)
        #expect(machine.failed(.refused(sqlState: "HF003"), isStopped: false) == .waitForMending)
        #expect(machine.ended(.ownershipLost) == .notKept(.ownershipLost))
        _ = machine.failed(.inDoubt, isStopped: false)
        #expect(machine.failed(.refused(sqlState: "HF003"), isStopped: false) == .waitForMending)
        #expect(machine.ended(.ownershipLost) == .undetermined(.ownershipLost))
        #expect(machine.ended(.contradicted) == .notKept(.contradicted))
        #expect(machine.failed(.refused(sqlState: "HF002"), isStopped: false) == .notKept(.contradicted))
    }

    @Test("A commit whose rows of the outbox are gone is not kept, whatever became of the first try")
    func rowsGone() {
        var machine = GateMachine()
        _ = machine.failed(.inDoubt, isStopped: false)
        #expect(machine.failed(.refused(sqlState: "HF008"), isStopped: false) == .rowsGone)
    }

    @Test("A stop while the answer is awaited leaves the commit undetermined")
    func stopped() {
        var machine = GateMachine()
        #expect(machine.failed(.inDoubt, isStopped: true) == .undetermined(.stopped))
        #expect(GateMachine().stopped() == .notKept(.stopped))
    }

    @Test("Errors of the connection are told by what is known after them")
    func failures() {
        let kinds: [(PQError.Kind, GateMachine.Failure)] = [
            (.unreachable, .withoutEffect), (.interrupted, .withoutEffect), (.configuration, .withoutEffect),
            (.inDoubt, .inDoubt), (.unexpected, .inDoubt), (.refused, .refused(sqlState: nil)),
        ]
        for (kind, failure) in kinds { #expect(GateMachine.Failure(PQError(kind, "words")) == failure) }
    }
}
