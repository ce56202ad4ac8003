import { leaves } from './catalogue.ts'
import { nearest } from './nearest.ts'
import { emptyReading, type Reading, take } from './reading.ts'

/** Options of the command line by their name without dashes: `{ 'server-port': '9000' }`. */
export type Flags = Readonly<Record<string, string | undefined>>

/** Secrets have no option, because every account on the machine can see command lines. */
const byOption = new Map(
  leaves.filter(({ setting }) => !setting.secret).map((leaf) => [leaf.option, leaf]),
)

/** The options of all settings: `data-dir`, `server-port` … */
export const settingFlags: readonly { name: string; help: string }[] = [...byOption].map(
  ([name, leaf]) => ({ name, help: leaf.setting.help }),
)

/** Reads the settings among the options; ignores `config`, which names the file. */
export function readFlags({ config: _, ...flags }: Flags): Reading {
  const reading = emptyReading()
  for (const [name, text] of Object.entries(flags)) {
    const at = `--${name}`
    const leaf = byOption.get(name)
    if (!leaf) reading.errors.push({ at, message: unknown(name) })
    else if (text !== undefined) {
      take(reading, leaf, leaf.setting.kind.fromText(text), { source: 'flag', at })
    }
  }
  return reading
}

function unknown(name: string): string {
  const hint = nearest(name, byOption.keys())
  return `unknown option${hint ? `; did you mean --${hint}?` : ''}`
}
