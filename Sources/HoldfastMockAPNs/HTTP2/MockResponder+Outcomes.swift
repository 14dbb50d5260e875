import HoldfastHTTP2
import HoldfastMocking

extension MockResponder {
    /// The result of a request.
    struct Outcome {
        var content: PreparedAnswer.Content
        var status: Int?
        var reason: String?
        /// Whether a notification was accepted.
        var isAccepted = false
        var uniqueID: String?

        /// The same answer, and whether a notification was accepted.
        func with(isAccepted: Bool) -> Outcome {
            var copy = self
            copy.isAccepted = isAccepted
            return copy
        }

        /// Keeps the result and answers with other content.
        func answered(_ content: PreparedAnswer.Content) -> Outcome {
            Outcome(content: content, isAccepted: isAccepted)
        }
    }

    mutating func outcome(
        of answer: MockAnswer, _ fields: RequestFields, _ target: RequestTarget, _ body: [UInt8]
    ) -> Outcome {
        switch answer.content.kind {
        case .validated:
            if let rejection = rejection(of: fields, target, bodyByteCount: body.count) {
                return outcome(of: rejection, answer.bodyFrameByteCount)
            }
            return take(fields, target, body, answer.bodyFrameByteCount)
        case .accepted:
            return take(fields, target, body, answer.bodyFrameByteCount)
        case .acceptedInSilence:
            tally.unanswered += 1
            return take(fields, target, body, nil).answered(.silence)
        case .rejected(let rejection):
            return outcome(of: rejection, answer.bodyFrameByteCount)
        case .acceptedAndRejected(let rejection):
            let taken = take(fields, target, body, nil)
            return outcome(of: rejection, answer.bodyFrameByteCount).with(isAccepted: taken.isAccepted)
        case .response(let status, let headers, let body):
            tally.scripted += 1
            return response(status, headers, body, answer.bodyFrameByteCount)
        case .reset(let code):
            tally.reset += 1
            return Outcome(content: .reset(code: code))
        case .acceptedAndReset(let code):
            tally.reset += 1
            return take(fields, target, body, nil).answered(.reset(code: code))
        case .silence:
            tally.unanswered += 1
            return Outcome(content: .silence)
        }
    }

    /// Accepts a notification, or carries out a request about channels.
    private mutating func take(
        _ fields: RequestFields, _ target: RequestTarget, _ body: [UInt8], _ bodyFrameByteCount: Int?
    ) -> Outcome {
        guard !address.isManagement else {
            switch service.channels.answer(to: target, fields, body) {
            case .refused(let rejection): return outcome(of: rejection, bodyFrameByteCount)
            case .done(let status, let headers, let body):
                tally.managed += 1
                return response(status, idHeader + headers, body, bodyFrameByteCount)
            }
        }
        let accepted = accepted(target)
        return Outcome(content: accepted.content, status: 200, isAccepted: true, uniqueID: accepted.uniqueID)
    }

    private func response(
        _ status: Int, _ headers: [(name: String, value: String)], _ body: [UInt8], _ bodyFrameByteCount: Int?
    ) -> Outcome {
        let block = HTTP2ServerSession.headerBlock(status: status, headers)
        return Outcome(
            content: .response(headerBlock: block, body: body, bodyFrameByteCount: bodyFrameByteCount), status: status)
    }

    private mutating func outcome(of rejection: MockRejection, _ bodyFrameByteCount: Int?) -> Outcome {
        tally.rejected[rejection.reason, default: 0] += 1
        return Outcome(
            content: refused(rejection, bodyFrameByteCount), status: rejection.status, reason: rejection.reason)
    }
}
