internal import ArgumentParser
internal import Holdfast

/// Tokens, and other services' addresses, from the command line, or from standard input, one a line.
struct TokenArguments: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            """
            Tokens in hex digits, or addresses of another push service, such as fid:cXy1; - reads them from \
            standard input, one a line.
            """,
            valueName: "token"))
    var tokens: [String] = []

    var readsInput: Bool { tokens == ["-"] }

    func validate() throws {
        guard !readsInput else { return }
        for text in tokens {
            do throws(Refusal) {
                _ = try Recipient(argument: text)
            } catch {
                // Not what it was: it may be a token all the same.
                throw ValidationError("One of the tokens is none: \(error.detail).")
            }
        }
    }

    /// Runs `body` with a thousand tokens at a time.
    ///
    /// - Returns: how many lines of the input were no tokens; each is named on standard error.
    func forEachBatch(_ body: ([Recipient]) async throws -> Void) async throws -> Int {
        var batch: [Recipient] = []
        guard readsInput else {
            for text in tokens { batch.append(try Recipient(argument: text)) }
            for start in stride(from: 0, to: batch.count, by: OperatorDeskLimits.batch) {
                try await body(Array(batch[start...].prefix(OperatorDeskLimits.batch)))
            }
            return 0
        }
        let file = try InputFile("-")
        var reader = LineReader(file)
        var faults = FaultReporter(console: .standard, name: file.name)
        while let line = try await reader.next() {
            switch line {
            case .tooLong(let number): faults.malformed(line: number, LineFault("is too long for a token"))
            case .text(let number, let bytes):
                do throws(Refusal) {
                    batch.append(try Recipient(argument: String(decoding: bytes, as: UTF8.self)))
                } catch {
                    faults.malformed(line: number, LineFault(error))
                }
            }
            if batch.count == OperatorDeskLimits.batch {
                try await body(batch)
                batch = []
            }
        }
        if !batch.isEmpty { try await body(batch) }
        faults.finish()
        return faults.count
    }
}

extension Recipient {
    /// A token as people paste it, or an address of another service by its ``ServiceAddress/notation``.
    init(argument text: String) throws(Refusal) {
        do throws(Refusal) {
            self = .device(try DeviceToken(sanitizing: text))
        } catch {
            guard let address = try? ServiceAddress(notation: text) else { throw error }
            self = .service(address)
        }
    }
}
