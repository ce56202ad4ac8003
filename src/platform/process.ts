import { readlinkSync } from 'node:fs'
import { hostname } from 'node:os'

/** This process, as the other processes on its data directory see it. */
export interface Process {
  version: string
  /** Where `pid` means something: two containers may share a host name, and both be number 1. */
  host: string
  pid: number
  /** Whether a process of this host runs. */
  isRunning: (pid: number) => boolean
}

export const thisProcess = (version: string): Process => ({
  version,
  host: [hostname(), processNamespace()].join(' ').trim(),
  pid: process.pid,
  isRunning,
})

/** Linux gives each container its own; elsewhere there is one for the machine. */
function processNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid')
  } catch {
    return ''
  }
}

/** Signal 0 is sent to nobody; it only tells whether the process exists. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
