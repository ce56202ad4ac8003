/**
 * The machines that a release is for. One x64 is enough: since 1.4 the runtime needs no more than
 * SSE4.2 and finds out by itself what else the processor can do.
 */
export const TARGETS = [
  {
    name: 'linux-x64',
    compileFor: 'bun-linux-x64',
    runtime: '@oven/bun-linux-x64',
    format: 'ELF x86-64',
  },
  {
    name: 'linux-arm64',
    compileFor: 'bun-linux-arm64',
    runtime: '@oven/bun-linux-aarch64',
    format: 'ELF aarch64',
  },
  {
    name: 'darwin-arm64',
    compileFor: 'bun-darwin-arm64',
    runtime: '@oven/bun-darwin-aarch64',
    format: 'Mach-O arm64',
  },
] as const

export type Target = (typeof TARGETS)[number]

/** Those named, or all when none is. */
export function chooseTargets(names: readonly string[]): readonly Target[] {
  const known: readonly string[] = TARGETS.map(({ name }) => name)
  const unknown = names.filter((name) => !known.includes(name))
  if (unknown.length > 0)
    throw new Error(`no target ${unknown.join(', ')}; there is ${known.join(', ')}`)
  return names.length === 0 ? TARGETS : TARGETS.filter(({ name }) => names.includes(name))
}

/** Whether it can be started on the machine that runs this. */
export const isNative = ({ name }: Target) => name === `${process.platform}-${process.arch}`
