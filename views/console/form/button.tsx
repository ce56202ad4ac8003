import type { ComponentChildren } from 'preact'
import { ScopedForm, useScopedHref } from '../scope.tsx'

type Weight = 'primary' | 'plain' | 'danger' | 'destroy' | 'bare'

interface Looks {
  weight?: Weight
  isSmall?: boolean
  children: ComponentChildren
}

const looksOf = ({ weight = 'plain', isSmall }: Looks): string =>
  ['button', weight !== 'plain' && weight, isSmall && 'small'].filter(Boolean).join(' ')

/** Does something: labelled by a verb. */
export const Button = (
  button: Looks & {
    type?: 'submit' | 'button'
    name?: string
    value?: string
    /** Posts to another address than its form. */
    action?: string
    isDisabled?: boolean
    /** Of no use without scripts. */
    isScripted?: boolean
    /** Closes the dialog that it is in. */
    closes?: boolean
    /** Goes where somebody was about to go when the dialog asked. */
    leaves?: boolean
  },
) => (
  <button
    type={button.type ?? 'submit'}
    class={`${looksOf(button)}${button.isScripted ? ' scripted' : ''}`}
    name={button.name}
    value={button.value}
    formaction={button.action}
    disabled={button.isDisabled}
    data-close={button.closes ? '' : undefined}
    data-leave={button.leaves ? '' : undefined}
  >
    {button.children}
  </button>
)

/** Leads somewhere, and looks as if it did something. */
export const LinkButton = (link: Looks & { href: string }) => (
  <a class={looksOf(link)} href={link.href}>
    {link.children}
  </a>
)

/** Downloads a file of the tenant and environment that the page shows. */
export const DownloadButton = ({
  href,
  ...link
}: {
  href: string
  children: ComponentChildren
}) => <LinkButton href={useScopedHref(href)} {...link} />

/** One button that posts on its own, such as "Run now" beside a row. */
export const ActionButton = (
  button: Looks & {
    action: string
    fields?: Record<string, string>
    /** What it would be done to, for who hears the button and does not see its row. */
    of?: string
  },
) => (
  <ScopedForm class="inline" action={button.action}>
    {Object.entries(button.fields ?? {}).map(([name, value]) => (
      <input type="hidden" name={name} value={value} />
    ))}
    <Button weight={button.weight} isSmall={button.isSmall}>
      {button.children}
      {button.of !== undefined && <span class="unseen"> {button.of}</span>}
    </Button>
  </ScopedForm>
)
