import Testing

@testable import HoldfastPQ

@Suite("What is known of a commit")
struct CommitDoubtTests {
    private func doubt(
        _ statements: [String], inTransaction: Bool = false, reading: Bool = false
    ) throws -> CommitDoubt {
        try CommitDoubt(statements.map { (StatementEffect($0), reading) }, inTransaction: inTransaction)
    }

    private func fail(_ doubt: inout CommitDoubt, endingSession: Bool) -> Bool {
        doubt.fail(endingSession: endingSession)
    }

    @Test("Statements outside of a transaction are in doubt from the moment that their Sync may have left")
    func autocommit() throws {
        var doubt = try doubt(["INSERT", "UPDATE"])
        #expect(doubt.commitPoint == 2)
        #expect(!doubt.isInDoubt)
        doubt.sent(whole: false)
        #expect(!doubt.isInDoubt)
        doubt.sent(whole: true)
        #expect(doubt.isInDoubt)
        doubt.answer()
        doubt.answer()
        // Their answers come before their commit.
        #expect(doubt.isInDoubt)
        doubt.sync()
        #expect(!doubt.isInDoubt)
    }

    @Test("A COMMIT is in doubt from the first byte on, since the server need not see the Sync behind it")
    func commit() throws {
        var doubt = try doubt(["INSERT", "COMMIT"], inTransaction: true)
        #expect(doubt.commitPoint == 1)
        doubt.sent(whole: false)
        #expect(doubt.isInDoubt)
        doubt.answer()
        #expect(doubt.isInDoubt)
        doubt.answer()
        // The answer to a COMMIT comes behind it.
        #expect(!doubt.isInDoubt)
        #expect(doubt.isAnswered)
    }

    @Test("Nothing is in doubt inside of a transaction that goes on, or when nothing is changed")
    func nothing() throws {
        for (statements, inTransaction, reading) in [
            (["INSERT"], true, false), (["BEGIN", "INSERT"], false, false), (["SELECT"], false, true),
            (["INSERT", "ROLLBACK"], true, false), (["INSERT", "BEGIN", "UPDATE"], false, false),
            (["ROLLBACK TO a", "INSERT"], true, false),
        ] {
            var doubt = try doubt(statements, inTransaction: inTransaction, reading: reading)
            doubt.sent(whole: true)
            #expect(doubt.commitPoint == nil && !doubt.isInDoubt, "\(statements)")
        }
    }

    @Test("An error before the commit decides; the end of the session in its place does not")
    func errors() throws {
        var before = try doubt(["INSERT", "COMMIT"], inTransaction: true)
        before.sent(whole: true)
        #expect(fail(&before, endingSession: true) == true)
        #expect(!before.isInDoubt)

        var instead = try doubt(["INSERT", "COMMIT"], inTransaction: true)
        instead.sent(whole: true)
        instead.answer()
        #expect(fail(&instead, endingSession: true) == false)
        #expect(instead.isInDoubt)

        var refused = try doubt(["INSERT", "COMMIT"], inTransaction: true)
        refused.sent(whole: true)
        refused.answer()
        #expect(fail(&refused, endingSession: false) == true)
        #expect(!refused.isInDoubt)

        var atSync = try doubt(["INSERT"])
        atSync.sent(whole: true)
        atSync.answer()
        #expect(fail(&atSync, endingSession: true) == false)
        #expect(atSync.isInDoubt)
    }

    @Test("A procedure may commit in its middle, so it is in doubt until the end, whatever ends the session")
    func procedures() throws {
        var call = try doubt(["CALL p()"])
        call.sent(whole: false)
        #expect(call.isInDoubt)
        #expect(fail(&call, endingSession: true) == false)
        #expect(call.isInDoubt)
    }

    @Test("Nothing may follow a statement that commits")
    func last() {
        for statements in [["COMMIT", "INSERT"], ["BEGIN", "COMMIT", "BEGIN", "COMMIT"], ["END", "SELECT"]] {
            failure(.unexpected) { try doubt(statements) }
        }
    }

    @Test(
        "Statements are known by their first words, behind comments and spaces",
        arguments: [
            ("COMMIT", StatementEffect.commits), ("  commit and chain", .commits), ("End;", .commits),
            ("-- x\n/* a /* b */ COMMIT */ CoMmIt", .commits), ("PREPARE TRANSACTION 'a'", .commits),
            ("PREPARE a AS SELECT 1", .none), ("COMMIT PREPARED 'a'", .commits), ("begin", .begins),
            ("START TRANSACTION", .begins), ("ROLLBACK", .rollsBack), ("ABORT", .rollsBack),
            ("ROLLBACK WORK TO SAVEPOINT a", .none), ("ROLLBACK TO a", .none), ("CALL p()", .mayCommitItself),
            ("DO $$ BEGIN COMMIT; END $$", .mayCommitItself), ("COMMITS", .none), ("SELECT 'COMMIT'", .none),
            ("", .none), ("/* COMMIT", .none), ("--", .none), ("(SELECT 1)", .none), (";;COMMIT", .commits),
        ])
    func effects(sql: String, effect: StatementEffect) {
        #expect(StatementEffect(sql) == effect)
    }

    @Test("A commit without its standby is known by its place in the server's source, in every language")
    func standby() {
        func report(_ severity: String, _ function: String?, _ file: String?) -> ServerReport {
            ServerReport(
                severity: severity, sqlState: "01000", message: "storniere Warten auf synchrone Replikation",
                function: function, file: file)
        }
        #expect(report("WARNING", "SyncRepWaitForLSN", "syncrep.c").saysStandbyNotAwaited)
        #expect(report("WARNING", "Other", "src/backend/replication/syncrep.c").saysStandbyNotAwaited)
        #expect(!report("WARNING", "BeginTransactionBlock", "xact.c").saysStandbyNotAwaited)
        #expect(!report("WARNING", nil, nil).saysStandbyNotAwaited)
        #expect(!report("LOG", "SyncRepWaitForLSN", "syncrep.c").saysStandbyNotAwaited)
    }
}
