import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describeConfig, formatErrors, formatRows, renderExample } from '../config/index.ts'
import { type Command, EXIT, UsageError } from './command.ts'
import { withConsoleSettings } from './console-settings.ts'
import { sentenceOf } from './sentences.ts'

export const configCheck: Command = {
  name: 'config check',
  summary: 'Check the configuration and list all errors.',
  runBare: ({ loaded }) => {
    const errors = loaded.ok ? [] : loaded.errors
    const { ok, file, warnings } = loaded
    return {
      json: { ok, file: file ?? null, errors, warnings },
      text: [
        formatErrors(errors).trimEnd(),
        warnings.length > 0 ? `Warnings:\n${formatErrors(warnings).trimEnd()}` : '',
        ok ? `The configuration is valid${file ? ` (${file})` : ''}.` : '',
      ]
        .filter(Boolean)
        .join('\n'),
      exit: ok ? EXIT.ok : EXIT.config,
    }
  },
}

export const configShow: Command = {
  name: 'config show',
  summary: 'Show every setting, its value and where it comes from. Secrets are hidden.',
  runBare: async ({ io, loaded }) => {
    if (!loaded.ok)
      return {
        json: { errors: loaded.errors },
        text: formatErrors(loaded.errors).trimEnd(),
        exit: EXIT.config,
      }
    const { config, origin } = await withConsoleSettings(loaded).catch((error) => {
      io.err(`Without the settings made in the console: ${sentenceOf(error)}\n`)
      return loaded
    })
    const rows = describeConfig(config, origin)
    return { json: { settings: rows }, text: formatRows(rows).trimEnd() }
  },
}

export const configInit: Command = {
  name: 'config init',
  summary: 'Write a configuration file with every setting and its default, commented out.',
  positionals: ['[FILE]'],
  runBare: ({ io, args }) => {
    const file = resolve(io.cwd, args[0] ?? 'gatehouse.toml')
    try {
      writeFileSync(file, renderExample(), { flag: 'wx', mode: 0o600 })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST')
        throw new UsageError(`${file} already exists`)
      throw error
    }
    return { json: { file }, text: `Wrote ${file}.` }
  },
}
