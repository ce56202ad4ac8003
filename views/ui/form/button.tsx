import type { ComponentChildren } from 'preact'

type Weight = 'primary' | 'plain' | 'danger' | 'destroy' | 'bare'

interface ButtonStyle {
  weight?: Weight
  isSmall?: boolean
  children: ComponentChildren
}

const classesOf = ({ weight = 'plain', isSmall }: ButtonStyle): string =>
  ['button', weight !== 'plain' && weight, isSmall && 'small'].filter(Boolean).join(' ')

/** A button, labeled with a verb. */
export const Button = (
  button: ButtonStyle & {
    type?: 'submit' | 'button'
    name?: string
    value?: string
    /** Overrides the action of its form. */
    action?: string
    /** ID of a form that it is outside of. */
    form?: string
    isDisabled?: boolean
    /** Hidden without scripts. */
    isScripted?: boolean
    /** Closes its dialog. */
    closes?: boolean
    /** Follows the link that opened the dialog. */
    leaves?: boolean
  },
) => (
  <button
    type={button.type ?? 'submit'}
    class={`${classesOf(button)}${button.isScripted ? ' scripted' : ''}`}
    name={button.name}
    value={button.value}
    formaction={button.action}
    form={button.form}
    disabled={button.isDisabled}
    data-close={button.closes ? '' : undefined}
    data-leave={button.leaves ? '' : undefined}
  >
    {button.children}
  </button>
)

/** A link that looks like a button. */
export const LinkButton = (link: ButtonStyle & { href: string; isDownload?: boolean }) => (
  <a class={classesOf(link)} href={link.href} download={link.isDownload}>
    {link.children}
  </a>
)

/** A form of one button, such as "Run now" in a row. */
export const ActionButton = (
  button: ButtonStyle & {
    action: string
    fields?: Record<string, string>
    /** Object of the verb, for screen readers. */
    of?: string
  },
) => (
  <form class="inline" method="post" action={button.action}>
    {Object.entries(button.fields ?? {}).map(([name, value]) => (
      <input type="hidden" name={name} value={value} />
    ))}
    <Button weight={button.weight} isSmall={button.isSmall}>
      {button.children}
      {button.of !== undefined && <span class="unseen"> {button.of}</span>}
    </Button>
  </form>
)
