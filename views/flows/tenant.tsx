import { KeyIcon } from './icons.tsx'
import { initialOf, shownName } from './name.ts'

/** The first letter of the tenant, as a sign to recognise the page by. */
export const Emblem = ({ name }: { name: string }) => (
  <span class="emblem" aria-hidden="true">
    {initialOf(name) ?? <KeyIcon />}
  </span>
)

const PLACE = '{tenant}'

/** A sentence with the name in its place, which keeps its direction to itself. */
export const Sentence = ({ text, name }: { text: string; name: string }) => {
  const [before, after] = text.split(PLACE)
  return (
    <>
      {before}
      {after !== undefined && <bdi>{shownName(name)}</bdi>}
      {after}
    </>
  )
}

/** The same where there is no markup, as in titles. */
export const sentence = (text: string, name: string): string =>
  text.split(PLACE).join(shownName(name))
