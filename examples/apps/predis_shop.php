<?php
// PHP's built-in server with Predis: one request at a time, so that two at once need two of it.
require 'Predis/Autoloader.php';
Predis\Autoloader::register();

$database = new Predis\Client(getenv('REDIS_URL'));

// Wrong: looks first and takes then; another request may take the last one in between.
function buy($database)
{
    if ((int) $database->get('stock') <= 0) {
        return false;
    }
    $database->decr('stock');
    return true;
}

// Right: takes first and looks what was left, and gives back what was not there.
function buyOnce($database)
{
    if ($database->decr('stock') >= 0) {
        return true;
    }
    $database->incr('stock');
    return false;
}

// Right: looks and takes in a transaction, which is tried again if the stock has changed.
function buyWatched($database)
{
    $sold = false;
    $database->transaction(
        ['cas' => true, 'watch' => 'stock', 'retry' => 100],
        function ($transaction) use (&$sold) {
            $sold = (int) $transaction->get('stock') > 0;
            $transaction->multi();
            if ($sold) {
                $transaction->decr('stock');
            }
        }
    );
    return $sold;
}

$handlers = ['/buy' => 'buy', '/buy-once' => 'buyOnce', '/buy-watched' => 'buyWatched'];
$sold = $handlers[$_SERVER['REQUEST_URI']]($database);
http_response_code($sold ? 200 : 409);
echo $sold ? "sold\n" : "out\n";
