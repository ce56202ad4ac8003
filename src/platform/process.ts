import { readlinkSync } from 'node:fs'
import { availableParallelism, hostname } from 'node:os'

/** This process, as seen by other processes on its data directory. */
export interface Process {
  version: string
  /** Host name and process namespace: containers can share a name and both have process 1. */
  host: string
  pid: number
  /** Whether a process of this host is running. */
  isRunning: (pid: number) => boolean
}

export const thisProcess = (version: string): Process => ({
  version,
  host: [hostname(), processNamespace()].join(' ').trim(),
  pid: process.pid,
  isRunning,
})

/** How many processes `[server] processes` stands for. */
export const processCount = (processes: number | 'auto'): number =>
  processes === 'auto' ? availableParallelism() : processes

/** The process namespace, which differs for each container on Linux; empty on other systems. */
function processNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid')
  } catch {
    return ''
  }
}

/** Signal 0 is never delivered; it only checks whether the process exists. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
