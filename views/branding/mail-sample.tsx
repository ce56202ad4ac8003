import type { MailContent } from '../../src/engines/gate/sign-in/mail-templates/contents.ts'
import type { Theme } from '../../src/platform/branding/contrast.ts'
import { shownName } from '../flows/name.ts'

/** An email as mail programs show it in one theme. */
export const MailSample = (parts: { mail: MailContent; sender: string; theme: Theme }) => {
  const { mail, sender, theme } = parts
  const { subject, heading, paragraphs, code, link, footer, contacts = [] } = mail
  return (
    <article class={`mailsample branded sample ${theme}`} lang={mail.language}>
      <header>
        <p class="subject">
          <bdi>{subject}</bdi>
        </p>
        <p class="sender">
          <bdi>{shownName(sender)}</bdi>
        </p>
      </header>
      <div class="sheet">
        <Masthead mail={mail} theme={theme} />
        <p class="heading">{heading}</p>
        {paragraphs.map((text) => (
          <p dir="auto">{text}</p>
        ))}
        {code && <p class="code">{code}</p>}
        {link && (
          <>
            <p class="go">{link.label}</p>
            <p class="quiet">
              {link.orOpen}
              <br />
              {link.url}
            </p>
          </>
        )}
        <div class="foot quiet">
          <p>{footer}</p>
          {contacts.length > 0 && <p>{contacts.map(({ label }) => label).join(' · ')}</p>}
        </div>
      </div>
    </article>
  )
}

const Masthead = ({ mail: { look, tenantName }, theme }: { mail: MailContent; theme: Theme }) => {
  const { light, dark } = look?.logos ?? {}
  const logo = theme === 'dark' ? (dark ?? light) : (light ?? dark)
  if (!logo)
    return (
      <p class="quiet from">
        <bdi>{shownName(tenantName)}</bdi>
      </p>
    )
  return (
    <img
      class={dark ? 'logo' : 'logo plate'}
      src={logo.path}
      width={logo.width}
      height={logo.height}
      alt={shownName(tenantName)}
    />
  )
}
