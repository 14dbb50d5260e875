internal import ArgumentParser

@main
struct HoldfastCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "holdfast", abstract: "Push notifications that survive.")
}
