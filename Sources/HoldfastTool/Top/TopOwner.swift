internal import Holdfast
internal import HoldfastControl

/// The process that uses a journal, as `holdfast top` asks it.
final class TopOwner: Sendable {
    enum Answer: Sendable {
        case sample(TopSample, owner: String)
        case failure(String)
    }

    let place: JournalPlace

    init(_ place: JournalPlace) { self.place = place }

    /// One answer.
    ///
    /// - Throws: ``ControlError``.
    func ask() async throws -> (TopSample, owner: String) {
        let desk = try await place.liveDesk()
        do {
            let sample = try await Self.sample(desk)
            await desk.close()
            return (sample, desk.owner)
        } catch {
            await desk.close()
            throw error
        }
    }

    private static func sample(_ desk: RemoteDesk) async throws -> TopSample {
        let clock = EngineClock.system
        let start = clock.monotonic()
        let status = try await desk.status()
        let end = clock.monotonic()
        return TopSample(at: end, wall: clock.wall(), status: status, answered: end - start)
    }

    /// Answers at this interval, over one connection for as long as it holds.
    func answers(every interval: Duration) -> AsyncStream<Answer> {
        let (answers, source) = AsyncStream<Answer>.makeStream(bufferingPolicy: .bufferingNewest(4))
        let task = Task {
            var desk: RemoteDesk?
            var next = ContinuousClock.now
            while !Task.isCancelled {
                do {
                    let open = if let desk { desk } else { try await place.liveDesk() }
                    desk = open
                    source.yield(.sample(try await Self.sample(open), owner: open.owner))
                } catch {
                    await desk?.close()
                    desk = nil
                    source.yield(.failure(ToolError(error, otherwise: .unavailable).message))
                }
                // What was missed is not made up for.
                next = max(next + interval, .now)
                do { try await Task.sleep(until: next) } catch { break }
            }
            await desk?.close()
            source.finish()
        }
        source.onTermination = { _ in task.cancel() }
        return answers
    }

    /// - Returns: why it was not done; nil where it was.
    func perform(_ order: TopMachine.Order) async -> String? {
        do {
            let desk = try await place.liveDesk()
            do {
                switch order.kind {
                case .pause: try await desk.pause(order.lane, reason: "paused in holdfast top")
                case .resume: try await desk.resume(order.lane)
                case .connect: try await desk.connect(route: order.lane.route)
                }
                await desk.close()
                return nil
            } catch {
                await desk.close()
                throw error
            }
        } catch {
            return ToolError(error, otherwise: .unavailable).message
        }
    }
}
