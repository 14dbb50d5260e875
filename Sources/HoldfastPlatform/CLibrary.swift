// The system's C library, under one name: every other file of the libraries imports this module in its place.
//
// Darwin comes first, and Glibc last, so that Scripts/check-platforms can check the branches on Linux with declarations of
// the others.
#if canImport(Darwin)
@_exported public import Darwin
#elseif canImport(Musl)
@_exported public import Musl
@_exported public import CHoldfastPlatform
#elseif canImport(Glibc)
@_exported public import Glibc
@_exported public import CHoldfastPlatform
#else
#error("Holdfast needs Darwin, or Linux with glibc or musl")
#endif
