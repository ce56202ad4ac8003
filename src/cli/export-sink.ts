import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { openWorkFolder } from '../platform/backup/work-folder.ts'
import { systemClock } from '../platform/clock.ts'
import { conflict } from '../platform/errors.ts'
import { giveName, refuseTaken, sync } from '../platform/files.ts'
import { thisProcess } from '../platform/process.ts'
import { VERSION } from '../platform/version.ts'
import type { Io } from './command.ts'
import { onInterrupt } from './interrupted.ts'

/** Where an export goes; whatever was not ended is taken away again. */
export interface Sink extends Disposable {
  /** For the report. */
  target: { file?: string }
  write(text: string): Promise<void>
  end(): Promise<void>
}

type Output = Pick<Io, 'out' | 'outStream'>

/** A file that is not there yet; standard output if none is named. */
export const openSink = (io: Output, file: string | undefined): Sink =>
  file === undefined ? outputSink(io) : fileSink(file)

/** So that few lines are one write, and many do not pile up. */
const CHUNK = 64 * 1024

/** Waits for whoever reads: else all that they have not read yet would be in memory. */
function outputSink({ out, outStream }: Output): Sink {
  let held = ''

  async function flush() {
    const taken = out(held)
    held = ''
    await taken
    if (outStream.errored) throw conflict('the reader of the output has gone away')
  }

  async function write(text: string) {
    held += text
    if (held.length >= CHUNK) await flush()
  }

  return { target: {}, write, end: flush, [Symbol.dispose]: () => {} }
}

/**
 * A file that has its name once all of it is on disk, and none before: half a log looks like a whole
 * one. What a killed process has left goes with the next export to that directory.
 */
function fileSink(file: string): Sink {
  refuseTaken(file)
  const work = openWorkFolder({
    parent: dirname(file),
    process: thisProcess(VERSION),
    now: systemClock.now(),
    onInterrupt,
  })
  const draft = join(work.path, 'draft')
  const descriptor = openSync(draft, 'wx', 0o600)
  let held = ''
  let isOpen = true

  /** A disk that is nearly full takes a part, and refuses the rest. */
  function flush() {
    const bytes = Buffer.from(held)
    held = ''
    for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at)
  }

  /** Rests between chunks, or nobody could interrupt it. */
  async function write(text: string) {
    held += text
    if (held.length < CHUNK) return
    flush()
    await new Promise((resolve) => setImmediate(resolve))
  }

  async function end() {
    flush()
    fsyncSync(descriptor)
    close()
    giveName(draft, file)
    sync(dirname(file))
  }

  function close() {
    if (isOpen) closeSync(descriptor)
    isOpen = false
  }

  function dispose() {
    close()
    work.remove()
  }

  return { target: { file }, write, end, [Symbol.dispose]: dispose }
}
