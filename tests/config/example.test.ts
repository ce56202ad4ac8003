import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { leaves } from '../../src/config/catalogue.ts'
import { describeConfig, renderExample } from '../../src/config/index.ts'
import { load } from './support.ts'

const committed = readFileSync(new URL('../../gatehouse.example.toml', import.meta.url), 'utf8')

const uncommented = committed.replaceAll(/^#(?=\w)/gm, '')

const rowsOf = (toml?: string) => {
  const result = load({ toml })
  if (!result.ok) throw new Error(JSON.stringify(result.errors))
  expect(result.warnings).toEqual([])
  return describeConfig(result.config, result.origin)
}

/** To renew it: delete the file and run `bun src/main.ts config init gatehouse.example.toml`. */
test('the example in the repository is up to date', () => {
  expect(committed).toBe(renderExample())
})

test('the example changes nothing', () => {
  expect(rowsOf(committed)).toEqual(rowsOf())
})

test('the example has every setting with its default', () => {
  const valuesOf = (toml?: string) =>
    rowsOf(toml)
      .filter(({ key }) => !key.startsWith('gate.providers.'))
      .map(({ key, value }) => ({ key, value }))

  expect(valuesOf(uncommented)).toEqual(valuesOf())
})

test('one provider stands for all', () => {
  const shown = leaves.filter(({ key }) => !/^gate\.providers\.(?!github\.)/.test(key))

  const settings = committed.match(/^#\w+ = /gm)

  expect(settings).toHaveLength(shown.length)
  expect(committed.match(/^\[gate\.providers\..*/gm)).toEqual(['[gate.providers.github]'])
})

test('every setting has a line of help above it, and no line is too long', () => {
  const lines = committed.split('\n')
  for (const [index, line] of lines.entries()) {
    expect(line.length).toBeLessThanOrEqual(100)
    if (/^#\w/.test(line)) expect(lines[index - 1]).toStartWith('# ')
    if (/^\[/.test(line)) expect(lines[index - 1]).toStartWith('# ')
  }
})
