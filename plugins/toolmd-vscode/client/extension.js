// Start `toolmd lsp` for the definitions of the open folder, and open the console.

const fs = require("node:fs");
const path = require("node:path");
const { spawn } = require("node:child_process");
const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

const STARTED = /https?:\/\/[\w.[\]:-]+\/\S*/;

const BROWSER = "workbench.action.browser.open"; // VS Code's own browser, in an editor tab

let address; // of the console, while its server runs
let client;
let consoleServer;

function folder() {
  return vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? process.cwd();
}

function command() {
  const own = vscode.workspace.getConfiguration("toolmd").get("command");
  if (own.length > 0) {
    return own;
  }
  const windows = process.platform === "win32";
  const local = path.join(folder(), ".venv", windows ? "Scripts" : "bin", windows ? "toolmd.exe" : "toolmd");
  return [fs.existsSync(local) ? local : "toolmd"];
}

async function startClient() {
  const [program, ...first] = command();
  const server = { command: program, args: [...first, "lsp"], options: { cwd: folder() } };
  client = new LanguageClient("toolmd", "Toolmd", server, {
    documentSelector: [
      { scheme: "file", pattern: "**/*.{tool,skill,prompt}.md" },
      { scheme: "file", language: "python" },
    ],
  });
  try {
    await client.start();
  } catch (error) {
    vscode.window.showErrorMessage(
      `Toolmd did not start: ${error.message}. Run \`pip install 'toolmd[lsp]'\`, or set toolmd.command.`,
    );
  }
}

async function restart() {
  await client?.stop();
  await startClient();
}

// `toolmd dev` prints the address of its console when it accepts connections.
function consoleAddress() {
  const [program, ...first] = command();
  consoleServer = spawn(program, [...first, "dev", "--port", "0"], { cwd: folder() });
  return new Promise((resolve, reject) => {
    let printed = "";
    const read = (data) => {
      printed += data;
      const found = STARTED.exec(printed);
      if (found) {
        resolve(found[0]);
      }
    };
    consoleServer.stdout.on("data", read);
    consoleServer.stderr.on("data", read);
    consoleServer.on("error", reject);
    consoleServer.on("exit", () => {
      address = undefined;
      reject(new Error(printed.trim() || "toolmd dev has ended"));
    });
  });
}

// The console forbids other pages to frame it, so a webview can't show it; a browser can.
async function openConsole() {
  try {
    address ??= await vscode.window.withProgress(
      { location: vscode.ProgressLocation.Window, title: "Starting the Toolmd console" },
      consoleAddress,
    );
    const known = await vscode.commands.getCommands(true);
    if (known.includes(BROWSER)) {
      await vscode.commands.executeCommand(BROWSER, address);
    } else {
      await vscode.env.openExternal(vscode.Uri.parse(address, true));
    }
  } catch (error) {
    vscode.window.showErrorMessage(`The console did not start: ${error.message}`);
  }
}

async function activate(context) {
  context.subscriptions.push(
    vscode.commands.registerCommand("toolmd.openConsole", openConsole),
    vscode.commands.registerCommand("toolmd.restart", restart),
    vscode.workspace.onDidChangeConfiguration((event) => event.affectsConfiguration("toolmd") && restart()),
  );
  await startClient();
}

async function deactivate() {
  consoleServer?.kill();
  await client?.stop();
}

module.exports = { activate, deactivate };
